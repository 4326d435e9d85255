/** For tests of what interprets schemas. Needs fast-check. */
export { arbitraryOf } from './arbitrary.ts'
