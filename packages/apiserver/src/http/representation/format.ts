import { parseExactJson, tooManyRequests } from '@coracle/api'
import { busyMessage } from '../../store-errors.ts'

/** Bytes of an answer, or those that are still being made. */
export type Encoded = Buffer | Promise<Buffer>

/** What values of JSON are written in. */
export interface Format {
  readonly contentType: string
  encode(value: unknown): Encoded
  /** Absent where events cannot be told one after another. */
  readonly events?: {
    readonly contentType: string
    encode(type: string, object: unknown): Buffer
  }
}

const encodeJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

/** A line for each event: also for people, as upstream. */
const jsonEvents = {
  contentType: 'application/json',
  encode: (type: string, object: unknown) => encodeJson({ type, object }),
}

export const json = {
  contentType: 'application/json',
  encode: encodeJson,
  events: jsonEvents,
} satisfies Format

/** JSON for people: indented. */
export const prettyJson = {
  contentType: 'application/json',
  encode: (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
  events: jsonEvents,
} satisfies Format

/** Longer YAML is read and made in a thread; shorter takes less time than starting one does. */
export const yamlInlineLengthMax = 8 * 1024

export const yaml: Format = {
  contentType: 'application/yaml',
  async encode(value) {
    const text = JSON.stringify(value)
    // Making YAML takes a second per megabyte.
    const written =
      text.length <= yamlInlineLengthMax
        ? (await import('@coracle/client/go-yaml')).goYamlText(parseExactJson(text))
        : await (await import('../yaml-thread.ts')).writeYamlInThread(text)
    if (written === undefined) throw tooManyRequests(busyMessage, 1)
    return Buffer.from(written)
  },
}
