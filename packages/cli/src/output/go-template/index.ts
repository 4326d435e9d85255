/**
 * Go's text/template, the language of kubectl's `-o go-template`, over data of JSON: a lexer, a parser and an evaluator,
 * each a file, and the functions that templates may call.
 */
export { executeGoTemplate, TemplateError } from './evaluator.ts'
export { explainFailure } from './failure.ts'
export { type GoTemplate, parseGoTemplate } from './parser.ts'
