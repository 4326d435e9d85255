import { protobufMessages } from '@coracle/api'

/** A field of a protobuf message: one that has a name in JSON, or one that holds a message whose fields do. */
export type ProtobufField =
  | {
      readonly number: number
      readonly name: string
      /** Whether its message is written even where it is empty. */
      readonly alwaysThere: boolean
    }
  | { readonly number: number; readonly embedded: readonly ProtobufField[] }

/** The fields of the messages of a package, by the name of the message, as text. */
let texts: ReadonlyMap<string, string> | undefined
const parsed = new Map<string, readonly ProtobufField[]>()

/** The fields of the message for a definition such as `io.k8s.api.core.v1.Pod`; undefined where none is known. */
export function protobufFieldsOf(definition: string): readonly ProtobufField[] | undefined {
  texts ??= textsOf(protobufMessages)
  const known = parsed.get(definition)
  if (known !== undefined) return known
  const text = texts.get(definition)
  if (text === undefined) return undefined
  const fields = parse(text, definition.slice(0, definition.lastIndexOf('.')))
  parsed.set(definition, fields)
  return fields
}

/** The names of all messages known. */
export function protobufDefinitions(): readonly string[] {
  texts ??= textsOf(protobufMessages)
  return [...texts.keys()]
}

function textsOf(packages: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, text] of Object.entries(packages)) {
    // A message goes on over lines that are indented.
    for (const line of text.replace(/\n +/g, ' ').trim().split('\n')) {
      const colon = line.indexOf(':')
      found.set(`${name}.${line.slice(0, colon)}`, line.slice(colon + 1).trim())
    }
  }
  return found
}

const fieldPattern = /^(?:(\d+):)?(\.\.\.)?([\w$-]+)(!)?$/

function parse(text: string, packageName: string): readonly ProtobufField[] {
  if (text === '') return []
  let last = 0
  return text.split(' ').map((word) => {
    const [, said, embedded, name = '', mark] = fieldPattern.exec(word) ?? []
    const number = said === undefined ? last + 1 : Number(said)
    last = number
    if (embedded === undefined) return { number, name, alwaysThere: mark !== undefined }
    return { number, embedded: protobufFieldsOf(`${packageName}.${name}`) ?? [] }
  })
}
