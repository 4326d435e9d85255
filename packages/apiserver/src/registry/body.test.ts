import { type KubernetesObject, type Pod, pods } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { type DecodedBody, decodeBody } from './body.ts'

const { clock } = virtualEnvironment()
const decoding = { clock, definition: pods, fieldValidation: 'Warn', knowsKind: () => true } as const
const read = (body: unknown, known?: KubernetesObject) =>
  // What fits is there at once.
  (decodeBody(body, { ...decoding, known }) as DecodedBody).object as Pod

const container = (index: number) => ({ name: `c${index}`, image: 'example/main' })
const pod = (containers: number): Pod =>
  read({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: Array.from({ length: containers }, (_, index) => container(index)) },
  })

/** A value, and how often something of it has been read. */
function counted<T extends object>(value: T) {
  const count = { reads: 0 }
  const handler: ProxyHandler<T> = {
    get(target, name) {
      count.reads += 1
      return Reflect.get(target, name)
    },
    ownKeys(target) {
      count.reads += 1
      return Reflect.ownKeys(target)
    },
  }
  return { value: new Proxy(value, handler), count }
}

describe('a change of a status', () => {
  it.each([1, 100])('does not look into a spec of %i containers, which is as it was decoded', (containers) => {
    const before = pod(containers)
    const spec = counted(before.spec)
    const known = { ...before, spec: spec.value }
    const changed = read({ ...known, status: { phase: 'Running' } }, known)
    expect(changed.status?.phase).toBe('Running')
    expect(changed.spec).toBe(spec.value)
    expect(spec.count.reads).toBe(0)
  })

  it('gives a changed spec its defaults', () => {
    const known = pod(1)
    const changed = read({ ...known, spec: { ...known.spec, containers: [container(0)], dnsPolicy: undefined } }, known)
    expect(changed).toEqual(known)
  })
})
