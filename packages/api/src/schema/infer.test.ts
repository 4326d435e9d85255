import { expectTypeOf, it } from 'vitest'
import type { KubernetesObject } from '../meta.ts'
import type { ResourceDefinition } from '../resource.ts'
import { type Widget, widgets } from '../testing/sample-kind.ts'
import { enumOf, int32, intOrString, list, mapOf, object, optional, quantity, required, string } from './builders.ts'
import type { Infer } from './schema.ts'

const port = object('Port', 'A port.', {
  number: required(int32(), 'The port.'),
  protocol: optional(enumOf('TCP', 'UDP'), 'The protocol.', { default: 'TCP' }),
  target: optional(intOrString, 'Where it leads.'),
})

it('infers required and optional fields, enumerations and nesting', () => {
  expectTypeOf<Infer<typeof port>>().toEqualTypeOf<{
    readonly number: number
    readonly protocol?: 'TCP' | 'UDP' | undefined
    readonly target?: number | string | undefined
  }>()
})

it('infers lists and maps that cannot be changed', () => {
  const schema = object('X', '', { names: required(list(string()), ''), limits: required(mapOf(quantity), '') })
  expectTypeOf<Infer<typeof schema>>().toEqualTypeOf<{
    readonly names: readonly string[]
    readonly limits: Readonly<Record<string, string>>
  }>()
})

it('refuses a default that the schema does not allow', () => {
  // @ts-expect-error SCTP is not one of the values
  optional(enumOf('TCP', 'UDP'), '', { default: 'SCTP' })
})

it('makes kinds that are Kubernetes objects, and definitions that fit where any definition does', () => {
  expectTypeOf<Widget>().toExtend<KubernetesObject>()
  expectTypeOf(widgets).toExtend<ResourceDefinition>()
  expectTypeOf<NonNullable<Widget['spec']>['parts'][number]['name']>().toEqualTypeOf<string>()
})
