import type { KubernetesObject } from '@coracle/api'
import { countWork } from '@coracle/api/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { AbsentOwners, absentOwnersMax } from './absent-owners.ts'
import { blockingDependents, DependencyGraph, type GraphNode } from './graph.ts'
import { identityOfOwner } from './identity.ts'

interface Parts {
  readonly namespace?: string
  readonly finalizers?: readonly string[]
  readonly isGoing?: boolean
}

const reference = (name: string, uid = name, block = false) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid,
  ...(block ? { blockOwnerDeletion: true } : {}),
})

function object(
  name: string,
  owners: readonly ReturnType<typeof reference>[] = [],
  parts: Parts = {},
): KubernetesObject {
  const { namespace = 'default', finalizers, isGoing } = parts
  const deletionTimestamp = isGoing === true ? '2026-01-01T00:00:00Z' : undefined
  const metadata = { namespace, name, uid: name, ownerReferences: owners, finalizers, deletionTimestamp }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata }
}

const foreground: Parts = { finalizers: ['foregroundDeletion'], isGoing: true }

describe('DependencyGraph', () => {
  let graph: DependencyGraph
  let absentOwners: AbsentOwners
  let asked: string[]

  beforeEach(() => {
    asked = []
    absentOwners = new AbsentOwners()
    graph = new DependencyGraph(absentOwners, {
      attemptDelete: ({ identity }) => asked.push(identity.uid),
      attemptOrphan: ({ identity }) => asked.push(`orphan ${identity.uid}`),
      namespaceMismatch: ({ identity }, ownerUid) => asked.push(`mismatch ${identity.uid} ${ownerUid}`),
    })
  })

  /** What the graph wants looked at on account of a change. */
  function changes(change: () => void): readonly string[] {
    asked = []
    change()
    return asked
  }

  it('wants an owner verified that nobody has seen, and its dependents left alone when it is seen', () => {
    expect(changes(() => graph.observe(object('child', [reference('owner')])))).toEqual(['owner'])
    expect(changes(() => graph.observe(object('owner')))).toEqual([])
  })

  it.each([
    ['their owner goes', () => graph.remove('owner')],
    ['it is deleted in the foreground', () => graph.observe(object('owner', [], foreground))],
  ])('wants dependents looked at by their names when %s, in whichever order they were heard of', (_, change) => {
    graph.observe(object('owner'))
    for (const name of ['b', 'c', 'a']) graph.observe(object(name, [reference('owner')]))
    expect(changes(change).slice(0, 3)).toEqual(['a', 'b', 'c'])
  })

  it('wants dependents looked at when their owner goes, and remembers that it is gone', () => {
    for (const each of [object('owner'), object('a', [reference('owner')]), object('b', [reference('owner')])])
      graph.observe(each)
    expect(changes(() => graph.remove('owner'))).toEqual(['a', 'b'])
    expect(absentOwners.has(identityOfOwner(reference('owner'), 'default'))).toBe(true)
  })

  it('asks a waiting owner once, when its last blocking dependent is gone', () => {
    graph.observe(object('owner', [], { finalizers: ['foregroundDeletion'], isGoing: true }))
    for (const name of ['a', 'b']) graph.observe(object(name, [reference('owner', 'owner', true)]))
    graph.observe(object('c', [reference('owner')]))
    expect(changes(() => graph.remove('a'))).toEqual([])
    expect(changes(() => graph.remove('b'))).toEqual(['owner'])
  })

  it('has no owner wait for what is in another namespace', () => {
    graph.observe(object('owner', [], foreground))
    graph.observe(object('child', [reference('owner', 'owner', true)]))
    graph.observe(object('stranger', [reference('owner', 'owner', true)], { namespace: 'elsewhere' }))
    const names = () => blockingDependents(graph.get('owner') as GraphNode).map(({ identity }) => identity.name)
    expect(names()).toEqual(['child'])
    expect(changes(() => graph.remove('child'))).toEqual(['owner'])
  })

  it('asks an owner when a dependent no longer blocks it', () => {
    for (const each of [object('owner'), object('child', [reference('owner', 'owner', true)])]) graph.observe(each)
    expect(changes(() => graph.observe(object('child', [reference('owner')])))).toEqual(['owner'])
  })

  it('does nothing about updates that change no owner, finalizer or deletion', () => {
    for (const each of [object('owner'), object('child', [reference('owner')])]) graph.observe(each)
    expect(changes(() => graph.observe(object('child', [reference('owner')])))).toEqual([])
  })

  it('frees dependents once, when an orphaning deletion begins', () => {
    graph.observe(object('owner', [], { finalizers: ['orphan'] }))
    const going = object('owner', [], { finalizers: ['orphan'], isGoing: true })
    expect(changes(() => graph.observe(going))).toEqual(['orphan owner'])
    expect(changes(() => graph.observe({ ...going }))).toEqual([])
  })

  it('doubts a dependent in another namespace than its owner, whichever is seen first', () => {
    graph.observe(object('owner', [], { namespace: 'elsewhere' }))
    expect(changes(() => graph.observe(object('late', [reference('owner')])))).toEqual(['mismatch late owner', 'late'])

    graph.observe(object('early', [reference('other')]))
    const seen = changes(() => graph.observe(object('other', [], { namespace: 'elsewhere' })))
    expect(seen).toEqual(['mismatch early other', 'early'])
  })

  it('says so of one whose owner is being deleted in the foreground, too', () => {
    graph.observe(object('owner', [], { ...foreground, namespace: 'elsewhere' }))
    expect(changes(() => graph.observe(object('late', [reference('owner')])))).toEqual(['mismatch late owner', 'late'])
  })

  it('tries the next opinion where dependents disagree on what their owner is', () => {
    graph.observe(object('a', [reference('first', 'uid')]))
    graph.observe(object('b', [reference('second', 'uid')]))
    const first = identityOfOwner(reference('first', 'uid'), 'default')
    expect(changes(() => graph.removeAbsent(first))).toEqual(['a', 'uid'])
    expect(graph.get('uid')?.identity.name).toBe('second')
  })

  it('keeps a real owner that a dependent calls by a wrong name, and doubts that dependent', () => {
    graph.observe(object('owner'))
    expect(changes(() => graph.observe(object('child', [reference('wrong', 'owner')])))).toEqual(['child'])
    graph.removeAbsent(identityOfOwner(reference('wrong', 'owner'), 'default'))
    expect(graph.get('owner')?.object).toBeDefined()
  })

  it('follows the owners of one object with work that grows with their number', () => {
    const references = (count: number, block: boolean) =>
      Array.from({ length: count }, (_, index) => reference(`owner-${index}`, `owner-${index}`, block))
    const work = (count: number) =>
      countWork([references(count, true), references(count, false)] as const, ([blocking, free]) => {
        graph.observe(object('child', blocking))
        for (const each of blocking.slice(0, count / 2)) graph.removeAbsent(identityOfOwner(each, 'default'))
        graph.observe(object('child', free))
        for (const each of free.slice(count / 2)) graph.removeAbsent(identityOfOwner(each, 'default'))
        graph.remove('child')
      })
    expect(work(2_000) / work(200)).toBeLessThan(20)
  })

  it('tells which owners a change adds and which it takes away, also among very many', () => {
    const others = Array.from({ length: 100 }, (_, index) => reference(`other-${index}`))
    graph.observe(object('child', [...others, reference('before', 'before', true)]))
    graph.observe(object('before'))
    expect(changes(() => graph.observe(object('child', [...others, reference('after')])))).toEqual(['after', 'before'])
    expect(graph.get('before')?.dependents.size).toBe(0)
    expect(graph.get('other-50')?.dependents.size).toBe(1)
  })

  it('forgets what nobody names', () => {
    graph.observe(object('child', [reference('owner')]))
    graph.removeAbsent(identityOfOwner(reference('owner'), 'default'))
    graph.remove('child')
    expect(graph.size).toBe(0)
  })

  it.each<[string, () => void]>([
    ['is gone', () => graph.remove('child')],
    ['names another', () => graph.observe(object('child', []))],
    ['is of a kind that is served no more', () => graph.forget('child')],
  ])('forgets an owner that nobody has seen when the last that names it %s', (_, change) => {
    graph.observe(object('child', [reference('owner'), reference('other')]))
    graph.observe(object('sibling', [reference('other')]))
    change()
    expect([graph.get('owner'), graph.get('other')?.dependents.size]).toEqual([undefined, 1])
  })
})

describe('AbsentOwners', () => {
  it('forgets the oldest beyond its limit', () => {
    const owners = new AbsentOwners()
    const identity = (index: number) => identityOfOwner(reference(`owner-${index}`), 'default')
    for (let index = 0; index <= absentOwnersMax; index++) owners.add(identity(index))
    expect([owners.has(identity(0)), owners.has(identity(1)), owners.has(identity(absentOwnersMax))]).toEqual([
      false,
      true,
      true,
    ])
  })
})
