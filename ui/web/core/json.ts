// Reads JSON that may be something else. Knows no DOM.

/** Return the JSON object that a text is; null for any other text. */
export function parseObject(text: string): Record<string, any> | null {
  try {
    const found = JSON.parse(text);
    return typeof found === "object" && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}
