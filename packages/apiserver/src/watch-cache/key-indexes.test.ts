import { pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { indexedTermsMax, indexesMax, KeyIndexes } from './key-indexes.ts'
import { type PodParts, podSelection, storedPod } from './testing/stored-pods.ts'

const objectOf = (key: string, parts: PodParts) => storedPod(key, parts).object

/** Indexes over some pods, and how often all of them were read. */
function indexesOver(initial: Readonly<Record<string, PodParts>>) {
  const current = new Map(Object.entries(initial).map(([key, parts]) => [key, objectOf(key, parts)] as const))
  const indexes = new KeyIndexes(pods)
  let reads = 0
  const candidates = (options: Parameters<typeof podSelection>[0]) => {
    const found = indexes.candidates(podSelection(options), () => {
      reads += 1
      return current
    })
    return found === undefined ? undefined : [...found].sort()
  }
  const set = (key: string, parts: PodParts | undefined) => {
    const previous = current.get(key)
    const object = parts === undefined ? undefined : objectOf(key, parts)
    if (object === undefined) current.delete(key)
    else current.set(key, object)
    indexes.update(key, object, previous)
  }
  return { candidates, set, reads: () => reads }
}

const cluster = () =>
  indexesOver({
    'a/1': { labels: { app: 'web', tier: 'x' }, nodeName: 'n1' },
    'a/2': { labels: { app: 'web' }, nodeName: 'n2' },
    'a/3': { labels: { app: 'db', tier: 'x' }, nodeName: 'n2' },
    'b/1': { labels: { app: 'web', tier: 'x' }, nodeName: 'n2' },
    'b/2': {},
  })

describe('the candidates of a selection', () => {
  it.each([
    ['a label', { labelSelector: 'app=web' }, ['a/1', 'a/2', 'b/1']],
    ['a label, ==', { labelSelector: 'app==db' }, ['a/3']],
    ['a label that may have one value', { labelSelector: 'app in (web)' }, ['a/1', 'a/2', 'b/1']],
    ['a label that none has', { labelSelector: 'none=such' }, []],
    ['a label by the name of what every object inherits', { labelSelector: 'constructor=x' }, []],
    ['a field', { fieldSelector: 'spec.nodeName=n2' }, ['a/2', 'a/3', 'b/1']],
    ['a namespace and a label', { namespace: 'a', labelSelector: 'app=web' }, ['a/1', 'a/2']],
    ['a namespace and a field', { namespace: 'b', fieldSelector: 'spec.nodeName=n2' }, ['b/1']],
    ['whatever leaves fewest, by a field', { labelSelector: 'app=web', fieldSelector: 'spec.nodeName=n1' }, ['a/1']],
    ['whatever leaves fewest, by a label', { labelSelector: 'app=db', fieldSelector: 'spec.nodeName=n2' }, ['a/3']],
    ['what is not equal', { labelSelector: 'app!=web' }, undefined],
    ['several values', { labelSelector: 'app in (web,db)' }, undefined],
    ['no value of one', { labelSelector: 'app notin (web)' }, undefined],
    ['presence', { labelSelector: 'app' }, undefined],
    ['a field that is not equal', { fieldSelector: 'spec.nodeName!=n1' }, undefined],
    ['metadata alone', { fieldSelector: 'metadata.name=1' }, undefined],
  ] as const)('by %s', (_, options, expected) => {
    expect(cluster().candidates(options)).toEqual(expected)
  })

  it('follow every change', () => {
    const { candidates, set, reads } = cluster()
    const web = () => candidates({ labelSelector: 'app=web' })
    const onNode = () => candidates({ fieldSelector: 'spec.nodeName=n2', namespace: 'a' })
    web()
    onNode()
    set('a/1', { labels: { app: 'web', tier: 'y' }, nodeName: 'n2' })
    set('a/2', { labels: { app: 'db' } })
    set('b/1', undefined)
    set('b/2', { labels: { app: 'web' } })
    set('b/3', { labels: { app: 'web' } })
    expect(web()).toEqual(['a/1', 'b/2', 'b/3'])
    expect(onNode()).toEqual(['a/1', 'a/3'])
    for (const key of ['a/1', 'b/2', 'b/3']) set(key, undefined)
    expect(web()).toEqual([])
    set('c/1', { labels: { app: 'web' } })
    expect(web()).toEqual(['c/1'])
    expect(reads()).toBe(2)
  })

  it('by one field are not those by another', () => {
    const { candidates } = cluster()
    expect(candidates({ fieldSelector: 'spec.nodeName=n2' })).toHaveLength(3)
    expect(candidates({ fieldSelector: 'status.phase=n2' })).toEqual([])
  })

  it('keep objects of the whole cluster apart from those of a namespace', () => {
    const nodes = indexesOver({ one: { labels: { app: 'web' } }, two: {} })
    expect(nodes.candidates({ labelSelector: 'app=web' })).toEqual(['one'])
  })
})

describe('an index', () => {
  it('is made when it is first asked for, and kept', () => {
    const { candidates, reads } = cluster()
    expect(reads()).toBe(0)
    candidates({ labelSelector: 'app=web' })
    candidates({ labelSelector: 'app=db' })
    expect(reads()).toBe(1)
    candidates({ labelSelector: 'tier=x' })
    expect(reads()).toBe(2)
    candidates({ labelSelector: 'app=web,tier=x' })
    expect(reads()).toBe(2)
  })

  it('is made for few of the terms of a selector, however many it has', () => {
    const { candidates, reads } = cluster()
    const terms = Array.from({ length: 100 }, (_, index) => `l${index}=x`)
    expect(candidates({ labelSelector: `app=web,${terms.join(',')}` })).toEqual([])
    expect(reads()).toBe(indexedTermsMax)
  })

  it('makes room for another when it is the one unused for longest', () => {
    const { candidates, reads } = cluster()
    const labels = Array.from({ length: indexesMax }, (_, index) => `l${index}`)
    for (const label of labels) candidates({ labelSelector: `${label}=x` })
    candidates({ labelSelector: 'l0=x' })
    expect(reads()).toBe(indexesMax)
    candidates({ labelSelector: 'app=web' })
    expect(reads()).toBe(indexesMax + 1)
    candidates({ labelSelector: 'l0=x' })
    candidates({ labelSelector: 'l2=x' })
    expect(reads()).toBe(indexesMax + 1)
    candidates({ labelSelector: 'l1=x' })
    expect(reads()).toBe(indexesMax + 2)
  })
})
