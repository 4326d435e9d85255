// What is wrong with texts that are no JSON, in the words of Go, which people find when they search for them.
export * from './json-syntax.ts'
export { skipWhitespace } from './json-whitespace.ts'
