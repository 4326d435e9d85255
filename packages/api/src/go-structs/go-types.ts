import type { GoTypes } from '../schema/decode-context.ts'
import { composites, fields } from './go-types-data.ts'

interface GoField {
  /** The members it stands in, each followed by a dot. */
  readonly within: string
  /** Empty where the schema tells it. */
  readonly type: string
}

/**
 * The types that upstream's structs have for the fields of built-in kinds, where schemas do not tell them, as messages of Go's decoder name
 * them. Where they come from: `../../test/data/README.md`.
 */
export const goTypes: GoTypes = {
  within: (definition, field) => fieldOf(definition, field)?.within ?? '',
  typeOf: (definition, field, depth) => {
    let type = fieldOf(definition, field)?.type ?? ''
    for (let left = depth; left > 0 && type !== ''; left -= 1) type = elementOf(type)
    return type === '' ? undefined : type
  },
  kindOf: (type) => {
    const is = compositeTypes().get(type) ?? type
    if (is.startsWith('map[')) return 'map'
    if (is.startsWith('[]')) return 'slice'
    return textTypes().has(is) ? 'string' : undefined
  },
}

/** The type of what is in a list or map. */
function elementOf(type: string): string {
  const is = compositeTypes().get(type) ?? type
  const [, element = ''] = /^(?:\[\]|map\[[^\]]*\])(.*)$/.exec(is) ?? []
  return element
}

let readFields: ReadonlyMap<string, GoField> | undefined
let readTexts: ReadonlySet<string> | undefined
let readComposites: ReadonlyMap<string, string> | undefined

/** Fields by the names of definition and field, with a dot between them. */
function fieldOf(definition: string, field: string): GoField | undefined {
  readFields ??= new Map(parsedFields())
  return readFields.get(`${definition}.${field}`)
}

function compositeTypes(): ReadonlyMap<string, string> {
  readComposites ??= new Map(
    composites
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  )
  return readComposites
}

/** Types of texts that have a name: what schemas do not tell is a text where it is no list and no map. */
function textTypes(): ReadonlySet<string> {
  fieldOf('', '')
  readTexts ??= new Set(
    [...(readFields?.values() ?? [])]
      .map(({ type }) => type.replace(/^(\[\]|map\[[^\]]*\])/, ''))
      .filter((type) => /^\w+\.\w+$/.test(type) && type !== 'resource.Quantity' && !compositeTypes().has(type)),
  )
  return readTexts
}

function* parsedFields(): Generator<readonly [string, GoField]> {
  let packageName = ''
  for (const line of fields.trim().split('\n')) {
    const [, struct, rest = ''] = /^ (\S+) (.*)$/.exec(line) ?? []
    if (struct === undefined) {
      packageName = line
      continue
    }
    for (const [, within = '', type = '', names = ''] of rest.matchAll(/((?:[A-Z]\w*\.)*)([^\s(]*)\(([^)]*)\)/g)) {
      for (const name of names.split(' ')) yield [`${packageName}.${struct}.${name}`, { within, type }]
    }
  }
}
