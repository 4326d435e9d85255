/**
 * Writes `kubernetes-go-fields.json` anew from the Go types of Kubernetes: see README.md beside this file.
 *
 *     node extract-go-fields.ts staging/src/k8s.io
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readOpenApiFacts } from './extract-openapi-facts.ts'
import { type DeclaredTypes, readDeclarations } from './go-source.ts'

/**
 * Fields of definitions as Go declares them: a star for a pointer, what it is, and the options of its JSON, such as
 * `*int32,omitempty`. What it is: a scalar of Go, `list`, `map`, `struct`, or one of the types that write themselves.
 */
export type GoFields = Readonly<Record<string, Readonly<Record<string, string>>>>

const file = new URL('kubernetes-go-fields.json', import.meta.url)

/** The fields as they are kept. */
export function readGoFields(): GoFields {
  return JSON.parse(readFileSync(file, 'utf8'))
}

export interface GoField {
  /** What the type calls it; empty where it is named by its type. */
  readonly member: string
  /** Empty where the members of the type stand in its place. */
  readonly name: string
  readonly type: string
  readonly options: readonly string[]
}

/** The types of upstream's packages, by their names in OpenAPI. */
export interface GoTypes extends DeclaredTypes<GoField> {}

/** Names of packages in imports, where the last part of their path is not enough. */
const importedPackages: Readonly<Record<string, string>> = {
  metav1: 'io.k8s.apimachinery.pkg.apis.meta.v1',
  v1: 'io.k8s.api.core.v1',
  apiv1: 'io.k8s.api.core.v1',
  corev1: 'io.k8s.api.core.v1',
  autoscalingv1: 'io.k8s.api.autoscaling.v1',
  runtime: 'io.k8s.apimachinery.pkg.runtime',
  types: 'io.k8s.apimachinery.pkg.types',
}

const packageRoots: Readonly<Record<string, string>> = {
  api: 'io.k8s.api',
  apimachinery: 'io.k8s.apimachinery',
  'apiextensions-apiserver': 'io.k8s.apiextensions-apiserver',
  'kube-aggregator': 'io.k8s.kube-aggregator',
}

const scalars = /^(string|bool|int32|int64|float64)$/

/** Types that say themselves how they are written. */
const ownForms = /\.(Time|MicroTime|Quantity|IntOrString|FieldsV1|RawExtension|JSON|JSONSchemaPropsOr\w+)$/

if (import.meta.main) {
  const [root] = process.argv.slice(2)
  if (root === undefined) throw new Error('usage: node extract-go-fields.ts staging/src/k8s.io')
  writeFileSync(file, render(readGoTypes(root)))
}

/** The types of all packages in a folder that is as upstream's `staging/src/k8s.io` is. */
export function readGoTypes(root: string): GoTypes {
  const types: GoTypes = { structs: new Map(), others: new Map() }
  for (const [folder, name] of Object.entries(packageRoots)) readPackages(join(root, folder), name, types)
  return types
}

function readPackages(folder: string, root: string, types: GoTypes): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/(^|\/)(types\w*|uid)\.go$/.test(path) || /_test\.go$|swagger|generated/.test(path)) continue
    const packageName = [root, ...dirname(path).split('/')].join('.')
    readDeclarations(readFileSync(join(folder, path), 'utf8'), packageName, types, fieldsOfLine)
  }
}

function fieldsOfLine(line: string): readonly GoField[] {
  const [, member = '', type = '', tags = ''] = /^(?:(\w+)\s+)?([^\s`]+)(?:\s+`(.*)`)?$/.exec(line) ?? []
  if (type === '') return []
  const [name = '', ...options] = (/json:"([^"]*)"/.exec(tags)?.[1] ?? '').split(',')
  return name === '-' ? [] : [{ member, name, type, options }]
}

/** Definitions that the OpenAPI document has: others are of no kind that is served. */
function render(types: GoTypes): string {
  const lines = Object.keys(readOpenApiFacts().definitions).flatMap((name) => {
    const fields = fieldsOf(name, types)
    return fields === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(Object.fromEntries(fields))}`]
  })
  return `{\n${lines.join(',\n')}\n}\n`
}

function fieldsOf(definition: string, types: GoTypes): readonly (readonly [string, string])[] | undefined {
  const packageName = packageOf(definition)
  return types.structs.get(definition)?.flatMap(({ name, type, options }) => {
    const star = type.startsWith('*') ? '*' : ''
    const bare = type.slice(star.length)
    if (name === '') return fieldsOf(qualified(bare, packageName), types) ?? []
    return [[name, [`${star}${shape(bare, packageName, types)}`, ...options].join(',')] as const]
  })
}

function shape(type: string, packageName: string, types: GoTypes): string {
  if (scalars.test(type)) return type
  if (type === '[]byte') return 'bytes'
  if (type.startsWith('[]')) return 'list'
  if (type.startsWith('map[')) return 'map'
  const name = qualified(type, packageName)
  const own = ownForms.exec(name)?.[1]
  if (own !== undefined) return own
  const other = types.others.get(name)
  return other === undefined ? 'struct' : shape(other, packageOf(name), types)
}

/** The package of a type's whole name. */
export function packageOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

/** The whole name of a type that a package calls `type`. */
export function qualified(type: string, packageName: string): string {
  const [imported = '', name] = type.split('.')
  if (name === undefined) return `${packageName}.${type}`
  // Within the machinery and what is built on it alone, v1 is that of metadata.
  const isCore = packageName.startsWith('io.k8s.api.')
  const of = imported === 'v1' && !isCore ? importedPackages.metav1 : importedPackages[imported]
  return `${of ?? imported}.${name}`
}
