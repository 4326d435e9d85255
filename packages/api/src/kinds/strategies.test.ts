import * as fc from 'fast-check'
import { it } from 'vitest'
import type { KubernetesObject } from '../meta.ts'
import { compile } from '../schema/compile.ts'
import { arbitraryOf } from '../testing/arbitrary.ts'
import { builtinKinds } from './builtin-kinds.ts'

// What is wrong with an object is said; it never ends a request. Whatever can be decoded may come: objects that lack what is
// required, and leaves that no one would write.

const nowMs = 1_767_225_600_000

it.each(builtinKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind] as const))(
  '%s is judged whatever it lacks',
  async (_, { schema, strategy, version }) => {
    await strategy.load?.()
    const { decode, applyDefaults, validate } = compile(schema)
    const complete = (value: unknown): KubernetesObject => applyDefaults(decode(value).value) as KubernetesObject
    const named = (object: KubernetesObject): KubernetesObject => ({ ...object, metadata: object.metadata ?? {} })
    const judge = (sent: unknown, stored: unknown): void => {
      const object = named(complete(sent))
      const old = named(complete(stored))
      const created = strategy.prepareForCreate?.(object, nowMs) ?? object
      validate(created)
      strategy.validate?.(created, version)
      strategy.validateCreate?.(created, version)
      strategy.warnings?.(created, undefined)
      const updated = strategy.prepareForUpdate?.(object, old, 0) ?? object
      validate(updated, { old })
      strategy.validate?.(updated, version)
      strategy.validateUpdate?.(updated, old, version)
      strategy.warnings?.(updated, old)
      const reported = strategy.prepareForStatusUpdate?.(object, old, 0) ?? object
      strategy.validateStatusUpdate?.(reported, old)
      strategy.statusWarnings?.(reported)
    }
    const sent = fc.oneof(
      fc.constant({ metadata: { name: 'a' } }),
      arbitraryOf(schema, { lacking: true }),
      arbitraryOf(schema, { lacking: true, extreme: true }),
    )
    fc.assert(fc.property(sent, arbitraryOf(schema), judge), { numRuns: 50 })
  },
)
