// JSON in one form: equal values have equal texts, whatever the order of their keys. As Python tells
// numbers apart, 1 and 1.0 differ: sbd_core/tasks/json/task.py.

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s{}[\],:"]+/g;

/**
 * Throws for a text that is no JSON, or has a key twice.
 * @param {string} text
 */
export function canonicalJson(text) {
  JSON.parse(text); // from here on it is known to be well formed
  return valueText([...text.matchAll(TOKEN)].map(([token]) => token).reverse());
}

/**
 * @param {string[]} tokens those to come, the next one last
 * @returns {string}
 */
function valueText(tokens) {
  const token = tokens.pop() ?? "";
  if (token === "{") return objectText(tokens);
  if (token === "[") {
    const items = [];
    while (tokens.at(-1) !== "]") items.push(valueText(tokens));
    tokens.pop();
    return `[${items.join()}]`;
  }
  if (token.startsWith('"')) return JSON.stringify(JSON.parse(token));
  if (!/^-?\d/.test(token)) return token;
  if (!/[.e]/i.test(token)) return String(BigInt(token));
  const number = Number(token);
  return `float ${Object.is(number, -0) ? "-0" : number}`;
}

/** @param {string[]} tokens */
function objectText(tokens) {
  /** @type {Map<string, string>} */
  const found = new Map();
  while (tokens.at(-1) !== "}") {
    const key = JSON.stringify(JSON.parse(tokens.pop() ?? ""));
    if (found.has(key)) throw new SyntaxError("a key occurs twice");
    found.set(key, valueText(tokens));
  }
  tokens.pop();
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join()}}`;
}
