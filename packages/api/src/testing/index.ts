/** For tests of what interprets schemas, and of how work grows. Needs fast-check. */
export { arbitraryOf } from './arbitrary.ts'
export { countWork } from './count-work.ts'
