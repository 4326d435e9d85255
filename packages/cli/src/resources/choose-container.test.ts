import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { chooseContainer, chooseContainerForLogs, choosePod } from './choose-container.ts'

const pod = (containers: readonly string[], annotations = {}, initContainers: readonly string[] = []): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations },
    spec: {
      containers: containers.map((name) => ({ name })),
      initContainers: initContainers.map((name) => ({ name })),
    },
  }) as unknown as Pod

describe('chooseContainer', () => {
  it('takes the only one without a word', () => {
    expect(chooseContainer(pod(['a']), undefined)).toEqual({ container: 'a' })
  })

  it('takes the first of several, and names the others', () => {
    expect(chooseContainer(pod(['a', 'b'], {}, ['i']), undefined)).toEqual({
      container: 'a',
      note: 'Defaulted container "a" out of: a, b, i (init)',
    })
  })

  it('takes the one that the annotation names', () => {
    const annotated = pod(['a', 'b'], { 'kubectl.kubernetes.io/default-container': 'b' })
    expect(chooseContainer(annotated, undefined)).toEqual({ container: 'b' })
  })

  it('takes the one asked for, and no other', () => {
    expect(chooseContainer(pod(['a', 'b']), 'b')).toEqual({ container: 'b' })
    expect(() => chooseContainer(pod(['a', 'b'], {}, ['i']), 'c')).toThrow(
      'container c is not valid for pod web out of: a, b, i (init)',
    )
  })

  it('refuses an annotation that names none, and for logs tells of it', () => {
    const annotated = pod(['a', 'b'], { 'kubectl.kubernetes.io/default-container': 'c' })
    expect(() => chooseContainer(annotated, undefined)).toThrow('container c is not valid for pod web out of: a, b')
    expect(chooseContainerForLogs(annotated, undefined)).toEqual({
      container: 'a',
      missing: 'Default container name "c" not found in pod web',
      note: 'Defaulted container "a" out of: a, b',
    })
    expect(chooseContainerForLogs(annotated, 'b')).toEqual({ container: 'b' })
  })
})

describe('choosePod', () => {
  const candidate = (name: string, phase: string, ready: string, creationTimestamp: string): Pod =>
    ({
      metadata: { name, creationTimestamp },
      spec: { nodeName: 'n' },
      status: { phase, conditions: [{ type: 'Ready', status: ready }] },
    }) as unknown as Pod

  it('prefers running, then ready, then older pods', () => {
    const pending = candidate('pending', 'Pending', 'False', '2026-01-01T00:00:00Z')
    const unready = candidate('unready', 'Running', 'False', '2026-01-01T00:00:00Z')
    const young = candidate('young', 'Running', 'True', '2026-01-03T00:00:00Z')
    const old = candidate('old', 'Running', 'True', '2026-01-02T00:00:00Z')
    expect(choosePod([pending, unready, young, old])).toBe(old)
    expect(choosePod([pending, unready])).toBe(unready)
    expect(choosePod([])).toBeUndefined()
  })
})
