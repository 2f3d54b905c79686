// The chat template of the models that this repository trains; no other is rendered here.

import { ModelError } from "../errors.js";

/** @import { Tokenizer } from "./tokenizer.js" */

export const CHAT_TEMPLATE =
  "{% for message in messages %}" +
  "{% if message['role'] == 'assistant' %}<assistant>{{ message['content'] }}<eos>" +
  "{% else %}<user>{{ message['content'] }}{% endif %}" +
  "{% endfor %}" +
  "{% if add_generation_prompt %}<assistant>{% endif %}";

/**
 * Token ids of a prompt as the user's turn, or as it is where there is no template.
 * @param {Tokenizer} tokenizer
 * @param {string | null} template
 * @param {string} prompt
 */
export function encodePrompt(tokenizer, template, prompt) {
  const plain = tokenizer.encode(prompt);
  if (template === null) return plain;
  return [special(tokenizer, "<user>"), ...plain, special(tokenizer, "<assistant>")];
}

/**
 * Raises ModelError for a template that is not the one rendered here.
 * @param {Tokenizer} tokenizer
 * @param {string | null} template
 */
export function checkTemplate(tokenizer, template) {
  if (template === null) return;
  if (template.trim() !== CHAT_TEMPLATE) {
    throw new ModelError(
      "The model’s chat template is not the one of this project’s models, the only one that runs in a browser.",
    );
  }
  for (const name of ["<user>", "<assistant>"]) special(tokenizer, name);
}

/** @param {Tokenizer} tokenizer @param {string} name */
function special(tokenizer, name) {
  const id = tokenizer.ids.get(name);
  if (id === undefined)
    throw new ModelError(`The tokenizer lacks ${name}, which the chat template needs.`);
  return id;
}
