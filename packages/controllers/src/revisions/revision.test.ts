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
})
