// The words over the charts by the strategy of the run that they show. Knows no DOM.

/**
 * Title and words of a chart; what is said of a strategy instead, by its name.
 * @typedef {{ id: string, title: string, words: string, ntp?: string, verify?: string }} CardWords
 */

/**
 * The rows as they are said of a run.
 * @param {CardWords[]} rows
 * @param {string} strategy
 * @returns {CardWords[]}
 */
export function wordsFor(rows, strategy) {
  const own = strategy === "ntp" || strategy === "verify" ? strategy : "words";
  return rows.map((row) => ({ ...row, words: row[own] ?? row.words }));
}
