// Lets the browser save files, and tables as CSV or JSON.

import { make } from "./elements.ts";

export function saveFile(name: string, blob: Blob) {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export type Table = Record<string, string | number | boolean | null>[];

/** Return a table as CSV with a head. A text that a spreadsheet would read as a formula begins with an apostrophe. */
export function csvOf(table: Table) {
  const cell = (value: Table[number][string] = "") => {
    const text = value === null ? "" : String(value);
    const isFormula = typeof value === "string" && /^[=+@\t\r-]/.test(value);
    return /[",\n\r]/.test(text) || isFormula
      ? `"${isFormula ? "'" : ""}${text.replaceAll('"', '""')}"`
      : text;
  };
  const names = Object.keys(table[0] ?? {});
  const rows = [names, ...table.map((row) => names.map((name) => row[name]))];
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Create the buttons that save a table as CSV and as JSON. */
export function makeTableButtons(stem: string, about: string, table: () => Table) {
  const kinds = [
    ["CSV", "text/csv", csvOf],
    ["JSON", "application/json", (rows: Table) => JSON.stringify(rows, null, 1)],
  ] as const;
  const buttons = kinds.map(([name, type, textOf]) =>
    make("button", "sbd-action", { "aria-label": `Save ${about} as ${name}` }, name, () =>
      saveFile(`${stem}.${name.toLowerCase()}`, new Blob([textOf(table())], { type })),
    ),
  );
  return make("div", "sbd-table-buttons", "Save as", ...buttons);
}
