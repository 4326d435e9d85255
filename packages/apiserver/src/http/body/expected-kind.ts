import type { ObjectSchema } from '@coracle/api'

/** The kind a body should be of. */
export interface ExpectedKind {
  readonly group: string
  readonly kind: string
  readonly version: string
  /** Without it protobuf cannot be read, and unknown fields are not looked for. */
  readonly schema?: ObjectSchema
}

/** The kind and version that a body names itself. */
export type NamedKind = Pick<ExpectedKind, 'kind' | 'version'>

/** Whether a kind is defined by a CustomResourceDefinition, whose objects upstream reads into maps and not into a Go type. */
export const isCustom = ({ schema }: Pick<ExpectedKind, 'schema'>): boolean => schema?.dialect === 'structural'

/** What an object says it is; what it leaves out is as expected. */
export function namedKind(value: unknown, expected: ExpectedKind): NamedKind {
  const { kind, apiVersion } = (value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown }
  return {
    kind: typeof kind === 'string' && kind !== '' ? kind : expected.kind,
    version:
      typeof apiVersion === 'string' && apiVersion !== '' ? (apiVersion.split('/').at(-1) ?? '') : expected.version,
  }
}
