import type { ControllerRevision } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { isPresent, newRevision } from './revision.ts'

const owner = (image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default', uid: 'u' },
  spec: { template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image }] } } },
})

describe('the present revision', () => {
  it('is the one with the template that its owner has, also where an earlier server kept its time as null', () => {
    const revision = newRevision(owner('a'), 1)
    const { spec } = revision.data as { spec: { template: { metadata: object } } }
    const metadata = { ...spec.template.metadata, creationTimestamp: null }
    const former = { ...revision, data: { spec: { template: { ...spec.template, metadata } } } } as ControllerRevision
    expect([revision, former].map((each) => isPresent(each, owner('a')))).toEqual([true, true])
    expect([revision, former].map((each) => isPresent(each, owner('b')))).toEqual([false, false])
  })

  it('has the name of its owner, cut where it leaves no room, and its hash, which its label has too', () => {
    const long = { ...owner('a'), metadata: { ...owner('a').metadata, name: 'x'.repeat(253) } }
    for (const [each, prefix] of [
      [owner('a'), 'agent-'],
      [long, `${'x'.repeat(223)}-`],
    ] as const) {
      const { name, labels } = newRevision(each, 1).metadata
      expect(name).toBe(`${prefix}${labels?.['controller-revision-hash']}`)
      expect(labels).toMatchObject({ app: 'agent' })
    }
  })

  it('has another name once that was taken', () => {
    const nameAfter = (collisionCount: number) =>
      newRevision({ ...owner('a'), status: { collisionCount } }, 1).metadata.name
    expect(new Set([newRevision(owner('a'), 1).metadata.name, nameAfter(0), nameAfter(1), nameAfter(2)]).size).toBe(4)
  })
})
