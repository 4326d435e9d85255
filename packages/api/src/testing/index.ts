/** For tests: of what interprets schemas (needs fast-check), of how work grows, and of requests for certificates. */
export { arbitraryOf } from './arbitrary.ts'
export { certificateRequests } from './certificate-requests.ts'
export { countWork } from './count-work.ts'
