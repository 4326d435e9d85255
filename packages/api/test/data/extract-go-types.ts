/**
 * Writes `../../src/go-structs/go-types-data.ts` anew from the Go types of Kubernetes: see README.md beside this file.
 *
 *     node extract-go-types.ts staging/src/k8s.io
 */
import { writeFileSync } from 'node:fs'
import { goType } from '../../src/schema/go/go-types.ts'
import { shortName, versionOf } from '../../src/schema/resolve.ts'
import type { ObjectSchema } from '../../src/schema/schema.ts'
import { definitions } from '../definitions.ts'
import { type GoTypes, packageOf, qualified, readGoTypes } from './extract-go-fields.ts'

/** A field of a definition, where Go says more of it than its schema. */
interface Named {
  readonly field: string
  /** The members in which it stands, each of which is named by its type. */
  readonly within: readonly string[]
  /** The type, where the schema does not tell it. */
  readonly type: string | undefined
}

const scalars = /^(string|bool|u?int\d*|float\d+)$/

if (import.meta.main) {
  const [root] = process.argv.slice(2)
  if (root === undefined) throw new Error('usage: node extract-go-types.ts staging/src/k8s.io')
  const file = new URL('../../src/go-structs/go-types-data.ts', import.meta.url)
  writeFileSync(file, render(readGoTypes(root)))
}

function render(types: GoTypes): string {
  const packages = Map.groupBy(
    [...definitions()].sort(([a], [b]) => (a < b ? -1 : 1)),
    ([name]) => packageOf(name),
  )
  const blocks = [...packages].flatMap(([name, members]) => {
    const lines = members.flatMap(([, schema]) => lineOf(schema, types))
    return lines.length === 0 ? [] : [name, ...lines]
  })
  return `/** Written by \`../../test/data/extract-go-types.ts\` from the types of Kubernetes 1.36: not to be changed by hand. */

/** What lists and maps with a name of their own are. */
export const composites = \`
${compositesOf(types).join('\n')}
\`

/**
 * Packages, and of their structs the fields of which the schema does not tell all: \`v1.PullPolicy(imagePullPolicy)\` has a type that is
 * not the schema's, and \`VolumeSource.(hostPath)\` stands in a struct that this one has in itself.
 */
export const fields = \`
${blocks.join('\n')}
\`
`
}

function compositesOf({ others }: GoTypes): readonly string[] {
  const found = [...others]
    .filter(([name, is]) => /^(\[\]|map\[)/.test(is) && /^v\d/.test(versionOf(name)))
    .map(([name, is]) => `${typeName(name)} ${typeText(is, packageOf(name))}`)
  return [...new Set(found)].sort()
}

function lineOf(schema: ObjectSchema, types: GoTypes): readonly string[] {
  const known = fieldsOf(schema.name, types).filter(({ field, within, type }) => {
    const own = schema.fields[field]
    if (within[0] === 'TypeMeta') return isPart(schema.name, types)
    return own !== undefined && (within.length > 0 || type !== goType(own.schema))
  })
  const groups = Map.groupBy(known, ({ field, within, type }) => {
    const own = schema.fields[field]
    const told = own !== undefined && goType(own.schema) === type
    return [...within.map((each) => `${each}.`), told ? '' : type].join('')
  })
  if (groups.size === 0) return []
  const text = [...groups].map(([key, of]) => `${key}(${of.map(({ field }) => field).join(' ')})`)
  return [` ${shortName(schema.name)} ${text.join(' ')}`]
}

/** Whether an object is part of others. What is wrong with the kind of one that is not is found before it is decoded. */
function isPart(name: string, types: GoTypes): boolean {
  return [...definitions().keys()].some(
    (outer) =>
      !outer.endsWith('List') &&
      fieldsOf(outer, types).some(({ type }) => type?.replace(/^(\*|\[\])*/, '') === typeName(name)),
  )
}

function fieldsOf(name: string, types: GoTypes, within: readonly string[] = []): readonly Named[] {
  const packageName = packageOf(name)
  return (types.structs.get(name) ?? []).flatMap(({ member, name: field, type }) => {
    const bare = type.replace(/^\*/, '')
    if (field !== '') return [{ field, within, type: typeText(bare, packageName) }]
    const inner = qualified(bare, packageName)
    return fieldsOf(inner, types, [...within, member || shortName(inner)])
  })
}

/** As Go's reflection writes a type: with the last name of its package. */
function typeText(type: string, packageName: string): string {
  if (type === '[]byte') return '[]uint8'
  if (scalars.test(type)) return type
  const [, lead = '', rest = ''] = /^(\*|\[\]|map\[)(.*)$/.exec(type) ?? []
  if (lead === 'map[') {
    const end = rest.indexOf(']')
    return `map[${typeText(rest.slice(0, end), packageName)}]${typeText(rest.slice(end + 1), packageName)}`
  }
  return lead === '' ? typeName(qualified(type, packageName)) : `${lead}${typeText(rest, packageName)}`
}

function typeName(name: string): string {
  return `${versionOf(name)}.${shortName(name)}`
}
