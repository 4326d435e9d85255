import type { KubernetesObject } from '@coracle/api'

/** Different things told of, at most; more are counted. */
export const reportEntriesMax = 100

/** Objects of a kind that this server does not have. */
export interface UnknownKind {
  readonly apiVersion: string
  readonly kind: string
  readonly count: number
}

/** Fields of a kind that this server does not know: `status.foo` of `apps/v1 Deployment`. */
export interface DroppedField {
  readonly apiVersion: string
  readonly kind: string
  /** Such as `unknown field "status.foo"`. */
  readonly field: string
  readonly count: number
}

/** An object that cannot be read as what it says it is. */
export interface RefusedObject {
  /** `Pod default/web-0`. */
  readonly object: string
  readonly message: string
}

/** What became of the objects of a state, and what did not find its way into the store. */
export class StateReport {
  readonly #unknown = new Map<string, UnknownKind>()
  readonly #dropped = new Map<string, DroppedField>()
  readonly #refused: RefusedObject[] = []
  #written = 0
  #untold = 0

  /** Objects written. */
  get written(): number {
    return this.#written
  }

  get unknownKinds(): readonly UnknownKind[] {
    return [...this.#unknown.values()]
  }

  get droppedFields(): readonly DroppedField[] {
    return [...this.#dropped.values()]
  }

  get refusedObjects(): readonly RefusedObject[] {
    return this.#refused
  }

  /** What is not told of because there was too much. */
  get untold(): number {
    return this.#untold
  }

  wrote(): void {
    this.#written += 1
  }

  unknownKind(apiVersion: string, kind: string): void {
    this.#count(this.#unknown, `${apiVersion} ${kind}`, { apiVersion, kind })
  }

  droppedField({ apiVersion = '', kind = '' }: KubernetesObject, field: string): void {
    const text = field.replaceAll(/\[\d+\]/g, '[]')
    this.#count(this.#dropped, `${apiVersion} ${kind} ${text}`, { apiVersion, kind, field: text })
  }

  refused({ kind, metadata }: KubernetesObject, message: string): void {
    const { namespace, name } = metadata
    if (this.#refused.length >= reportEntriesMax) this.#untold += 1
    else this.#refused.push({ object: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`, message })
  }

  #count<T extends object>(counted: Map<string, T & { readonly count: number }>, key: string, what: T): void {
    const known = counted.get(key)
    if (known === undefined && counted.size >= reportEntriesMax) this.#untold += 1
    else counted.set(key, { ...what, count: (known?.count ?? 0) + 1 })
  }
}
