// Errors that the engine raises on purpose. Each has a message of one line that a visitor can understand.

export class EngineError extends Error {}

/** A value from the caller breaks a rule. */
export class ArgumentError extends EngineError {
  argument: string;
  rule: string;
  value: unknown;

  /** @param value the one received */
  constructor(argument: string, rule: string, value: unknown) {
    super(`${argument}: ${rule}; got ${shown(value)}`);
    this.argument = argument;
    this.rule = rule;
    this.value = value;
  }
}

/** Return a value as text on one line, shortened if it is long. */
export function shown(value: unknown) {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
