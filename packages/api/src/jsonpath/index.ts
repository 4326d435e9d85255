/** kubectl's dialect of JSONPath. Apart from the rest of this package: servers need it for custom resources only. */
export { type EvaluateOptions, findJsonPath, printJsonPath } from './evaluate-jsonpath.ts'
export { parseJsonPath } from './parse-jsonpath.ts'
export { JsonPathError, type Template } from './template.ts'
