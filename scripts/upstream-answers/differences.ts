import { isJsonObject, type JsonObject } from '@coracle/api'

export interface Answer {
  readonly code: number
  readonly body: unknown
  readonly warnings?: readonly string[]
}

/** Definitions of the other server's OpenAPI document, by name. */
export type Definitions = Readonly<Record<string, Definition>>

interface Definition {
  readonly type?: string
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Definition>>
  readonly items?: Definition
  readonly additionalProperties?: Definition
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

/** What only one of two answers has, as lines: `+` of ours, `-` of theirs. Fields that theirs does not know are passed over. */
export function differencesOf(ours: Answer, theirs: Answer, definitions: Definitions): readonly string[] {
  if (ours.code !== theirs.code) return [`- ${theirs.code} ${textOf(theirs)}`, `+ ${ours.code} ${textOf(ours)}`]
  const [our, their] = [toldBy(ours), toldBy(theirs)]
  const bodies =
    ours.code >= 400
      ? onlyIn(linesOf(our.body), linesOf(their.body))
      : objectDifferences(known(withoutTheirs(our.body), definitions), withoutTheirs(their.body), '')
  return [...bodies, ...onlyIn(our.warnings, their.warnings)]
}

const toldBy = ({ body, warnings = [] }: Answer) => ({
  body: masked(body),
  warnings: warnings.map((text) => `warning ${text}`),
})

/** Without what each server chooses for itself, wherever it stands. */
function masked(body: unknown): unknown {
  const text = JSON.stringify(body)
    ?.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replaceAll(/((?:in record \(|ResourceVersion in object meta: ))\d+/g, '$1VERSION')
    .replaceAll(/(kube-api-access-)\w{5}/g, '$1NAME')
    .replaceAll(new RegExp(`${new Date().toISOString().slice(0, 10)}T[0-9:.]+Z`, 'g'), 'NOW')
  return text === undefined ? undefined : JSON.parse(text)
}

/** The definition of an object of the API, and what it knows of the object. */
export function known(value: unknown, definitions: Definitions): unknown {
  if (!isJsonObject(value)) return value
  const { apiVersion = '', kind } = value as { readonly apiVersion?: string; readonly kind?: string }
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const own = Object.values(definitions).find((each) =>
    each['x-kubernetes-group-version-kind']?.some(
      (is) => is.group === group && is.version === version && is.kind === kind,
    ),
  )
  return own === undefined ? value : pruned(value, own, definitions)
}

function pruned(value: unknown, definition: Definition, definitions: Definitions): unknown {
  const target = definition.$ref === undefined ? definition : definitions[definition.$ref.replace('#/definitions/', '')]
  if (target === undefined) return value
  if (Array.isArray(value))
    return target.items === undefined
      ? value
      : value.map((each) => pruned(each, target.items as Definition, definitions))
  if (!isJsonObject(value)) return value
  const { properties, additionalProperties } = target
  if (properties === undefined && additionalProperties === undefined) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const of = properties?.[name] ?? additionalProperties
      return of === undefined ? [] : [[name, pruned(each, of, definitions)]]
    }),
  )
}

const own = new Set(['uid', 'creationTimestamp', 'resourceVersion', 'managedFields', 'selfLink'])

/** Without what each server chooses for itself. */
function withoutTheirs(body: unknown): unknown {
  if (!isJsonObject(body) || !isJsonObject(body.metadata)) return body
  const metadata = Object.fromEntries(Object.entries(body.metadata).filter(([name]) => !own.has(name)))
  return { ...body, metadata }
}

function objectDifferences(ours: unknown, theirs: unknown, path: string): readonly string[] {
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return []
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.flatMap((each, index) => objectDifferences(each, theirs[index], `${path}[]`))
  }
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(ours)])
    return [...names].flatMap((name) => objectDifferences(ours[name], theirs[name], `${path}.${name}`))
  }
  const line = (sign: string, value: unknown) =>
    value === undefined ? [] : [`${sign} ${path}: ${JSON.stringify(value)}`]
  return [...line('-', theirs), ...line('+', ours)]
}

/** Lines that only one has. How often it has them does not count: upstream looks at some fields several times, and says so each time. */
function onlyIn(ours: readonly string[], theirs: readonly string[]): readonly string[] {
  const only = (lines: readonly string[], others: readonly string[]) =>
    [...new Set(lines)].filter((line) => !others.includes(line))
  return [...only(theirs, ours).map((line) => `- ${line}`), ...only(ours, theirs).map((line) => `+ ${line}`)]
}

/** A refusal as lines: a line for each cause, where it has causes, and else its message. */
function linesOf(body: unknown): readonly string[] {
  if (!isJsonObject(body)) return [String(body)]
  const { reason, message, details } = body as { reason?: string; message?: string; details?: JsonObject }
  const causes = (details?.causes ?? []) as readonly Cause[]
  const { causes: _, uid: __, ...about } = details ?? {}
  const named = Object.entries(about).map(([name, value]) => ` ${name} ${String(value)}`)
  const head = `${reason}${named.join()}`
  if (causes.length === 0) return [`${head}: ${message}`]
  return [head, ...causes.map((cause) => `${cause.field}: ${comparable(cause)} (${cause.reason})`)]
}

interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/**
 * What a cause says, without what servers show in different forms: composite values, the whole object that a patch has made, and after the
 * first line how two objects differ.
 */
function comparable({ message = '', field }: Cause): string {
  const [line = ''] = message.split('\n')
  const said =
    field === 'patch'
      ? line.replace(/^(Invalid value: )(?:"(?:[^"\\]|\\.)*"(?=: )|"(?:[^"\\]|\\.)*\.\.\.(?=: ))/, '$1…')
      : line
  return withoutComposite(said)
}

function textOf({ code, body }: Answer): string {
  return code < 400 ? 'taken' : linesOf(body).join(' | ')
}

/** What equal differences have in common: without the places in lists, names and values that differ from example to example. */
export function ruleOf(kind: string, lines: readonly string[]): string {
  const general = lines.map((line) =>
    line
      .replaceAll(/\[\d+\]/g, '[]')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/(nodePort: |NodePort: )\d+/g, '$1PORT')
      .replaceAll(/10\.\d+\.\d+\.\d+/g, 'ADDRESS')
      .replaceAll(/a{60,}/g, 'aaa…')
      .replaceAll(/Invalid value: ("(?:[^"\\]|\\.)*"|[^:"]+):/g, 'Invalid value: …:')
      .replaceAll(/Duplicate value: .* \(/g, 'Duplicate value: … ('),
  )
  return `${kind}\n${[...new Set(general)].map((line) => `    ${line}`).join('\n')}`
}

/**
 * What is said of a value that is a list, a map or a struct, without the value: upstream once showed it as Go writes it, and one that is
 * empty is null here.
 */
export function withoutComposite(message: string): string {
  if (/^\w+ value: null(?=:|$)/.test(message)) return message.replace('null', '…')
  const [head = '', lead = ''] = /^(\w+ value: )(?=&?[\w.[\]]*(?:[{[(]))/.exec(message) ?? []
  if (head === '') return message
  let depth = 0
  for (let at = lead.length; at < message.length; at += 1) {
    const letter = message[at] ?? ''
    if ('{[('.includes(letter)) depth += 1
    if ('}])'.includes(letter)) depth -= 1
    if (depth === 0 && message.startsWith(': ', at)) return `${lead}…${message.slice(at)}`
  }
  return `${lead}…`
}
