import type { ExpectedKind, NamedKind } from './expected-kind.ts'

/** The messages of errors in a body. */
export interface Wording {
  /** The kind of the body cannot be told. */
  unrecognized(problem: string, expected: ExpectedKind, body: Buffer): string
  /** The body does not fit its kind. */
  undecodable(problem: string, expected: ExpectedKind, named: NamedKind): string
}

/** The messages for the object that a request writes. */
export const objectWording: Wording = {
  unrecognized: (problem, expected, body) =>
    `the object provided is unrecognized (must be of type ${expected.kind}): ${problem} (${summaryOf(body)})`,
  undecodable: (problem, expected, { kind, version }) =>
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${problem}`,
}

/** The messages for options: the problem alone. */
export const optionsWording: Wording = { unrecognized: (problem) => problem, undecodable: (problem) => problem }

/** Says that `apiVersion` and `kind` of a body cannot be read. */
export const unreadableType = (problem: string): string => `couldn't get version/kind; json parse error: ${problem}`

/** Go's YAML reader reports all keys that occur twice in one error. */
export const duplicateKeysError = (duplicates: readonly string[]): string =>
  `yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`

const summaryBytesMax = 30
const openBrace = 0x7b

/** The beginning of a body as upstream shows it: text where it looks like JSON, else hexadecimal. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>'
  const head = body.subarray(0, summaryBytesMax)
  const shown = body[0] === openBrace ? head.toString() : head.toString('hex')
  return body.length > summaryBytesMax ? `${shown} ...` : shown
}
