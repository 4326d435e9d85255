import { goJson } from '../go-json.ts'
import type { TemplateError } from './evaluator.ts'
import { goValueText } from './go-values.ts'
import type { GoTemplate } from './parser.ts'

/** What kubectl prints where a template fails: what came of it so far, and what it was given. */
export function explainFailure({ text }: GoTemplate, data: unknown, { message, written }: TemplateError): string {
  return [
    `${written}Error executing template: ${message}. Printing more information for debugging the template:`,
    '\ttemplate was:',
    `\t\t${text}`,
    '\traw data was:',
    `\t\t${goJson(data)}`,
    '\tobject given to template engine was:',
    `\t\t${goValueText(data)}\n\n`,
  ].join('\n')
}
