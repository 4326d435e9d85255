import { isJsonObject } from '../json.ts'
import { shownMap } from '../kinds/shown-values.ts'
import { structs } from './data.ts'

interface StructField {
  readonly name: string
  /** The name in the API. */
  readonly member: string
  readonly isOfOuter: boolean
  readonly isOmitted: boolean
  /** What the field is, without the struct: see `data.ts`. */
  readonly code: string
  readonly struct: string
}

const zeros: Readonly<Record<string, unknown>> = { s: '', n: 0, b: false, q: '0' }

const parsed = new Map<string, readonly StructField[]>()

let lines: ReadonlyMap<string, string> | undefined

/** A value of the API, or a list of such, as Go writes upstream's internal struct of that name. */
export function structForm(struct: string, value: unknown, outer?: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => structForm(struct, each))
  if (!isJsonObject(value)) return value ?? null
  return Object.fromEntries(membersOf(struct, value, outer))
}

function membersOf(
  struct: string,
  value: Readonly<Record<string, unknown>>,
  outer: unknown,
): readonly (readonly [string, unknown])[] {
  return fieldsOf(struct).flatMap((field): readonly (readonly [string, unknown])[] => {
    if (field.code === '&') return membersOf(field.struct, embeddedIn(value, field.name), outer)
    const from = field.isOfOuter ? outer : value
    const given = isJsonObject(from) ? from[field.member] : undefined
    if (field.isOmitted && isEmpty(given)) return []
    return [[field.name, formOf(field, given, value)]]
  })
}

/** The fields of a struct that stands in another are in its object in the API too, but for metadata. */
function embeddedIn(value: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  if (name !== 'ObjectMeta') return value
  return isJsonObject(value.metadata) ? value.metadata : {}
}

function formOf({ code, struct }: StructField, given: unknown, outer: unknown): unknown {
  if (struct !== '') {
    if (code === '') return structForm(struct, given ?? {}, outer)
    if (code === '%' && isJsonObject(given)) {
      return Object.fromEntries(Object.entries(shownMap(given)).map(([key, each]) => [key, structForm(struct, each)]))
    }
    return structForm(struct, given, outer)
  }
  if (given === undefined || given === null) return zeros[code] ?? null
  return code === 'm' && isJsonObject(given) ? shownMap(given) : given
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isJsonObject(value)) return Object.keys(value).length === 0
  return value === undefined || value === null || value === '' || value === 0 || value === false
}

function fieldsOf(struct: string): readonly StructField[] {
  const known = parsed.get(struct)
  if (known !== undefined) return known
  lines ??= new Map(
    structs
      .trim()
      .split('\n')
      .map((line) => {
        const space = line.indexOf(' ')
        return [line.slice(0, space), line.slice(space + 1)] as const
      }),
  )
  const fields = (lines.get(struct) ?? '').split(' ').map(parseField)
  parsed.set(struct, fields)
  return fields
}

/** `HostNetwork=^hostNetwork:b`. */
function parseField(text: string): StructField {
  const [, name = '', mark = '', given = '', code = '', rest = ''] =
    /^(\w+)(\??)(?:=(\^?\w+))?(?::([*%&]?)(.*))?$/.exec(text) ?? []
  const isStruct = rest.includes('.')
  return {
    name,
    member: given === '' ? `${name.slice(0, 1).toLowerCase()}${name.slice(1)}` : given.replace('^', ''),
    isOfOuter: given.startsWith('^'),
    isOmitted: mark === '?',
    code: isStruct ? code : rest,
    struct: isStruct ? rest : '',
  }
}
