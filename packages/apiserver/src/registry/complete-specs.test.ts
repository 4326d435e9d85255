import { deepFreeze, type Pod, pods } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { type DecodedBody, decodeBody } from './body.ts'
import { completeAdmittedSpec, rememberAdmitted } from './complete-specs.ts'

const written = (spec: object): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec }) as Pod
const { clock } = virtualEnvironment()
const read = (spec: object, fieldValidation: 'Ignore' | 'Warn' = 'Warn') =>
  // What fits is there at once.
  decodeBody(written(spec), { clock, definition: pods, fieldValidation, knowsKind: () => true }) as DecodedBody
const container = { name: 'main', image: 'example/main' }

describe('the spec of a template', () => {
  it('is decoded and given its defaults once for all pods that are made with it', () => {
    const spec = deepFreeze({ containers: [container] })
    const [one, other] = [read(spec), read(spec)]
    expect((one.object as Pod).spec.containers[0]?.imagePullPolicy).toBe('Always')
    expect((other.object as Pod).spec).toBe((one.object as Pod).spec)
    expect(other.valuesCount).toBeGreaterThanOrEqual(one.valuesCount)
  })

  it('has the warnings for its unknown fields each time, whoever passed over them before', () => {
    const spec = deepFreeze({ containers: [container], unheard: true })
    expect(read(spec, 'Ignore').warnings).toEqual([])
    expect(read(spec).warnings).toEqual(['unknown field "spec.unheard"'])
    expect(read(spec).warnings).toEqual(['unknown field "spec.unheard"'])
  })

  it('is looked at again where it may have been changed', () => {
    const spec = { containers: [container], hostname: 'before' }
    read(spec)
    spec.hostname = 'after'
    expect((read(spec).object as Pod).spec.hostname).toBe('after')
  })
})

describe('a spec that admission has made', () => {
  const { schema } = pods
  const made = (hostname: string) => written({ containers: [container], hostname })

  it('is completed once where admission makes the same again', () => {
    const complete = written({ containers: [{ ...container, imagePullPolicy: 'Always' }], hostname: 'a' })
    rememberAdmitted(schema, made('a'), complete)
    expect(completeAdmittedSpec(schema, made('a'))).toBe(complete.spec)
    expect(completeAdmittedSpec(schema, made('b'))).toBeUndefined()
  })
})
