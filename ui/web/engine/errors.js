// The errors that the engine raises on purpose, each with a message of one line fit for a visitor.

export class EngineError extends Error {}

/** A value given by the caller breaks a rule. */
export class ArgumentError extends EngineError {
  /** @param {string} argument @param {string} rule @param {unknown} value the one received */
  constructor(argument, rule, value) {
    super(`${argument}: ${rule}; got ${shown(value)}`);
    this.argument = argument;
    this.rule = rule;
    this.value = value;
  }
}

/** A value on one line, shortened. @param {unknown} value */
export function shown(value) {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
