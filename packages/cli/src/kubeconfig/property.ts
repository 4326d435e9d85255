import { illegalByte } from '@coracle/api'
import { isFields, type KubeconfigDocument, type KubeconfigFields, type KubeconfigList } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { entryFields, type FieldType, type FieldTypes } from './kubeconfig-form.ts'

/** Where in a kubeconfig a property is: the current context, whether there are to be colors, a list, an entry, or a field of an entry. */
type Place =
  | { readonly type: 'current-context' | 'colors' }
  | { readonly type: 'list'; readonly list: KubeconfigList }
  | { readonly type: 'entry'; readonly list: KubeconfigList; readonly name: string }
  | {
      readonly type: 'field'
      readonly list: KubeconfigList
      readonly name: string
      readonly path: readonly string[]
      readonly fieldType: FieldType
    }

export interface SetOptions {
  /** Bytes are given as they are, and not in base64. */
  readonly rawBytes: boolean
}

/** Sets what `users.me.token` stands for, as `kubectl config set` does. Throws a CliError where it is nothing, or no such value. */
export function setProperty(
  document: KubeconfigDocument,
  property: string,
  value: string,
  options: SetOptions,
): KubeconfigDocument {
  const place = placeOf(property)
  if (place.type === 'current-context') return { ...document, currentContext: value === '' ? undefined : value }
  if (place.type === 'colors') return withColors(document, parseValue(value, 'truth', property, options))
  if (place.type !== 'field') throw new CliError(`can't set a map to a value: ${property} has fields of its own`)
  const { list, name, path, fieldType } = place
  const entry = document[list].get(name) ?? { fields: {} }
  const parsed = parseValue(value, fieldType, property, options)
  const fields = withField(entry.fields, path, parsed)
  return { ...document, [list]: new Map([...document[list], [name, { ...entry, fields }]]) }
}

/** Takes a property away; nothing happens where it is not there. */
export function unsetProperty(document: KubeconfigDocument, property: string): KubeconfigDocument {
  const place = placeOf(property)
  switch (place.type) {
    case 'current-context':
      return { ...document, currentContext: undefined }
    case 'colors':
      return withColors(document, undefined)
    case 'list':
      return { ...document, [place.list]: new Map() }
    case 'entry':
      return { ...document, [place.list]: new Map([...document[place.list]].filter(([name]) => name !== place.name)) }
    case 'field': {
      const { list, name, path } = place
      const entry = document[list].get(name)
      if (entry === undefined) throw new CliError(`current map key \`${name}\` is invalid`)
      const fields = withField(entry.fields, path, undefined)
      return { ...document, [list]: new Map([...document[list], [name, { ...entry, fields }]]) }
    }
  }
}

function withColors(document: KubeconfigDocument, colors: unknown): KubeconfigDocument {
  const { preferences } = document.others
  const changed = withField(isFields(preferences) ? preferences : {}, ['colors'], colors)
  return { ...document, others: { ...document.others, preferences: changed } }
}

function placeOf(property: string): Place {
  const [head = '', ...parts] = property.split('.')
  if (head === 'current-context' && parts.length === 0) return { type: 'current-context' }
  if (property === 'preferences.colors') return { type: 'colors' }
  if (!Object.hasOwn(entryFields, head)) throw new CliError(`unable to parse ${property} after [] at api.Config`)
  const list = head as KubeconfigList
  if (parts.length === 0) return { type: 'list', list }
  // Names may have dots: a name ends before the first part that is a field.
  const at = parts.findIndex((part, index) => index > 0 && Object.hasOwn(entryFields[list], part))
  const name = (at < 0 ? parts : parts.slice(0, at)).join('.')
  if (at < 0) return { type: 'entry', list, name }
  const path = parts.slice(at)
  const fieldType = typeAt(entryFields[list], path)
  if (fieldType === undefined) throw new CliError(`unable to parse one or more field values of ${property}`)
  return { type: 'field', list, name, path, fieldType }
}

function typeAt(types: FieldTypes, [name = '', ...rest]: readonly string[]): FieldType | undefined {
  // Of a map any key may be set, to a text.
  const type = Object.keys(types).length === 0 ? 'text' : Object.hasOwn(types, name) ? types[name] : undefined
  if (rest.length === 0 || type === undefined) return type
  return typeof type === 'string' ? undefined : typeAt(type, rest)
}

function parseValue(value: string, type: FieldType, property: string, { rawBytes }: SetOptions): unknown {
  switch (type) {
    case 'text':
      return value
    case 'truth':
      if (/^(1|t|true)$/i.test(value)) return true
      if (/^(0|f|false)$/i.test(value)) return undefined
      throw new CliError(`strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`)
    case 'bytes':
      if (rawBytes) return Buffer.from(value).toString('base64')
      return base64Of(value)
    case 'list':
      return value.split(',')
    default:
      throw new CliError(`can't set a map to a value: ${property} has fields of its own`)
  }
}

function withField(
  fields: KubeconfigFields,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): KubeconfigFields {
  const inner = fields[name]
  const next = rest.length === 0 ? value : withField(isFields(inner) ? inner : {}, rest, value)
  const { [name]: _, ...others } = fields
  return next === undefined || next === '' ? others : { ...others, [name]: next }
}

/** Base64 as Go decodes it: in lines, as `base64` writes it, or in one. */
function base64Of(value: string): string {
  const illegal = illegalByte(value)
  if (illegal === undefined) return value.replace(/[\r\n]/g, '')
  throw new CliError(`error decoding input value: illegal base64 data at input byte ${illegal}`)
}
