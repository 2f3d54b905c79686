// Errors that the engine raises on purpose. Each has a message of one line that a visitor can understand.

import constants from "../constants.json" with { type: "json" };

const LABELS: Readonly<Record<string, string>> = constants.fieldLabels;

export class EngineError extends Error {}

/** A value from the caller breaks a rule. */
export class ArgumentError extends EngineError {
  /** @param value the one received */
  constructor(
    readonly argument: string,
    readonly rule: string,
    readonly value: unknown,
  ) {
    super(`${argument}: ${rule}; got ${shown(value)}`);
  }

  /** The error as a line for the visitor, with the label of the form's field. */
  get words() {
    const isNothing = ["", null, undefined].some((nothing) => nothing === this.value);
    const got = isNothing ? "" : `; got ${shown(this.value)}`;
    return `${LABELS[this.argument] ?? this.argument} ${this.rule}${got}.`;
  }
}

/** Return a value as text on one line, shortened if it is long. */
export function shown(value: unknown) {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
