/** Plays the examples of structured-merge-diff: an object, what is done with it, and who owns what of it. */
import { expect } from 'vitest'
import { pathText } from '../src/apply/conflicts.ts'
import { recordApply, recordUpdate } from '../src/apply/field-manager.ts'
import { differenceOf, type FieldSet, noFields, pathsOf, unionOf } from '../src/apply/field-set.ts'
import { fieldSetOf } from '../src/apply/field-set-of.ts'
import { hasDuplicateElements, mergeApplied } from '../src/apply/merge.ts'
import type { FieldOwners, IgnoredFields, Manager, Versions } from '../src/apply/ownership.ts'
import { removeFields } from '../src/apply/remove.ts'
import type { Schema } from '../src/schema/schema.ts'
import type { ExampleStep } from './structured-merge-diff.ts'

/** The texts of the paths of a set, in order. */
export const textsOf = (fields: FieldSet): readonly string[] => [...pathsOf(fields)].map(pathText).sort()

/** The set of these paths, given by their texts. */
export const setOf = (paths: readonly string[]): FieldSet =>
  paths.map((path) => nested(elementsOf(path))).reduce(unionOf, noFields)

const nested = (elements: readonly string[]): FieldSet =>
  elements.reduceRight<FieldSet>((below, element) => ({ [element]: below }), noFields)

/** The elements of a path: those of `.list[name="a"].value` and `.set[="a"]`. */
function elementsOf(path: string): readonly string[] {
  return [...path.matchAll(/\.([^.[]+)|\[=(.+?)\]|\[(.+?)\]/g)].map(([, field, value, keys]) => {
    if (field !== undefined) return `f:${field}`
    if (value !== undefined) return `v:${value}`
    const pairs = [...(keys ?? '').matchAll(/(\w+)=("[^"]*"|[^,]+)/g)].map(([, name, text]) => `"${name}":${text}`)
    return `k:{${pairs.join(',')}}`
  })
}

/**
 * An object with its owners. As in structured-merge-diff a manager is known by its name alone, whatever it does: what else
 * tells managers apart is Kubernetes'.
 */
export class OwnedObject {
  owners: FieldOwners = []
  versions: Versions
  readonly #ignored: IgnoredFields
  #value: unknown = {}
  #version = 'v1'

  constructor(versions: Versions, ignored: IgnoredFields = () => noFields) {
    this.versions = versions
    this.#ignored = ignored
  }

  /** The object in a version, from now on its own. */
  in(version: string): unknown {
    if (version !== this.#version) this.#value = this.versions.convert(this.#value, this.#version, version)
    this.#version = version
    return this.#value
  }

  /** What each manager owns, and in which version. */
  get owned(): Readonly<Record<string, { readonly version: string; readonly fields: readonly string[] }>> {
    const entries = this.owners.map(({ name, apiVersion, fields }) => [
      name,
      { version: apiVersion, fields: textsOf(fields) },
    ])
    return Object.fromEntries(entries)
  }

  /** Carries out a step that is no change of the schema, and checks its conflicts. */
  step(step: ExampleStep): void {
    const live = this.in(step.version)
    if (step.operation === 'update') this.#update(step, live)
    else this.#apply(step, live)
  }

  #shared({ manager, version }: ExampleStep) {
    const who: Manager = { name: manager, operation: 'Apply', apiVersion: version, subresource: '' }
    return { owners: this.owners, versions: this.versions, manager: who, ignored: this.#ignored }
  }

  #update(step: ExampleStep, live: unknown): void {
    this.owners = recordUpdate({ ...this.#shared(step), before: live, after: step.object }, 't')
    this.#value = step.object
  }

  #apply(step: ExampleStep, live: unknown): void {
    const schema = this.versions.schemaOf(step.version)
    if (schema === undefined) throw new Error(`no version ${step.version}`)
    const configuration = step.operation === 'extract' ? this.#extracted(step, schema, live) : step.object
    if (hasDuplicateElements(schema, configuration)) throw new Error('elements that stand there twice are not applied')
    const input = { ...this.#shared(step), live, configuration, schema }
    const applied = recordApply(input, step.operation !== 'apply', 't')
    const conflicts = applied.conflicts.flatMap(({ manager, fields }) =>
      textsOf(fields).map((path) => `${manager.name} ${path}`),
    )
    expect(conflicts.sort()).toEqual((step.conflicts ?? []).map(({ manager, path }) => `${manager} ${path}`).sort())
    if (conflicts.length > 0) return
    this.#value = applied.value
    this.owners = applied.owners
  }

  /** What the manager has applied, as it is now, with more: what a client does that knows no more than the object. */
  #extracted({ manager, object }: ExampleStep, schema: Schema, live: unknown): unknown {
    const own = this.owners.find(({ name }) => name === manager)?.fields ?? noFields
    const rest = differenceOf(fieldSetOf(schema, live), own)
    return mergeApplied(schema, removeFields(schema, live, rest) ?? {}, object)
  }
}
