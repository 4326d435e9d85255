import type { FieldError, KubernetesObject, ResourceDefinition } from '@coracle/api'
import type { User } from '../request.ts'

/** A write as it is checked. */
export interface CheckedWrite {
  readonly user: User
  /** Of the object that is written: the path's, whatever version. */
  readonly definition: ResourceDefinition
  readonly subresource: string
  readonly verb: 'create' | 'update' | 'patch'
  readonly namespace: string
  readonly object: KubernetesObject
  /** Undefined for a creation. */
  readonly old: KubernetesObject | undefined
}

/**
 * What rules of a kind ask of others than the object, such as rights of whoever writes it. What they find is told together with what
 * else is wrong with the object, after its metadata.
 */
export type OutsideRules = (write: CheckedWrite) => readonly FieldError[]
