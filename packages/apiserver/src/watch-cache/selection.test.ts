import { nodes, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { hubView } from '../versions/version-view.ts'
import { selectionOf } from './selection.ts'
import { podSelection, storedPod } from './testing/stored-pods.ts'

const web = storedPod('a/1', { labels: { app: 'web' }, nodeName: 'n1' }).object
const db = storedPod('a/2', { labels: { app: 'db' }, nodeName: 'n1' }).object

describe('a selection', () => {
  it.each([
    ['without options', {}],
    ['with empty selectors', { labelSelector: '', fieldSelector: '' }],
    ['with selectors that say nothing', { labelSelector: ' ', fieldSelector: '' }],
  ])('%s is of everything', (_, options) => {
    const { namespace, unfiltered, key, labelRequirements, fieldTerms, matches } = podSelection(options)
    expect([namespace, unfiltered, key, labelRequirements, fieldTerms]).toEqual(['', true, undefined, [], []])
    expect(matches(web)).toBe(true)
  })

  it('of a namespace alone is not filtered', () => {
    expect(podSelection({ namespace: 'a' })).toMatchObject({ namespace: 'a', unfiltered: true })
  })

  it.each([
    ['labels', { labelSelector: 'app=web' }, true, false],
    ['fields', { fieldSelector: 'spec.nodeName=n2' }, false, false],
    ['both, of which one does not hold', { labelSelector: 'app=web', fieldSelector: 'spec.nodeName=n2' }, false, false],
    ['both', { labelSelector: 'app=db', fieldSelector: 'spec.nodeName=n1' }, false, true],
    ['the name', { fieldSelector: 'metadata.name=1' }, true, false],
  ])('by %s', (_, options, isWeb, isDb) => {
    const selection = podSelection(options)
    expect([selection.unfiltered, selection.matches(web), selection.matches(db)]).toEqual([false, isWeb, isDb])
  })

  it.each([
    ['a name and a namespace', { namespace: 'a', fieldSelector: 'metadata.name=1' }, 'a/1'],
    ['a name in any namespace', { fieldSelector: 'metadata.name=1' }, undefined],
    ['any other name', { namespace: 'a', fieldSelector: 'metadata.name!=1' }, undefined],
    ['another field', { namespace: 'a', fieldSelector: 'spec.nodeName=1' }, undefined],
  ])('knows the only key that can match: %s', (_, options, key) => {
    expect(podSelection(options).key).toBe(key)
  })

  it('in a cluster-wide kind has no namespace, and a name is a key', () => {
    const selection = selectionOf(nodes, { namespace: 'a', fieldSelector: 'metadata.name=n1' }, hubView(nodes))
    expect([selection.namespace, selection.key]).toEqual(['', 'n1'])
  })

  it('tells the kind’s own fields, by the names of the hub', () => {
    const view = {
      selectableFields: { nodeName: pods.selectableFields['spec.nodeName'] ?? (() => '') },
      selectsShown: false,
      hubField: (field: string) => `spec.${field}`,
    }
    const { fieldTerms, labelRequirements } = selectionOf(
      pods,
      { fieldSelector: 'nodeName=n1,metadata.name!=x', labelSelector: 'app=web' },
      view,
    )
    expect(fieldTerms).toEqual([{ field: 'spec.nodeName', operator: '=', value: 'n1' }])
    expect(labelRequirements).toEqual([{ key: 'app', operator: '=', values: ['web'] }])
  })

  it('leaves what a version is selected by to the object as that version shows it', () => {
    const view = { ...hubView(pods), selectsShown: true }
    const { matches, matchesShown, fieldTerms } = selectionOf(
      pods,
      { fieldSelector: 'spec.nodeName=n2,metadata.name=1' },
      view,
    )
    expect([matches(web), matches(db), fieldTerms]).toEqual([true, false, []])
    const shown = storedPod('a/1', { nodeName: 'n2' }).object
    expect([matchesShown?.(shown), matchesShown?.(web)]).toEqual([true, false])
    const alone = selectionOf(pods, { fieldSelector: 'spec.nodeName=n2' }, view)
    expect([alone.unfiltered, alone.matchesShown?.(web)]).toEqual([true, false])
    const byName = selectionOf(pods, { fieldSelector: 'metadata.name=1' }, view)
    expect([byName.unfiltered, byName.matchesShown]).toEqual([false, undefined])
  })

  it('by a field the kind has not is refused', () => {
    expect(() => podSelection({ fieldSelector: 'spec.colour=red' })).toThrow('field label not supported: spec.colour')
  })
})
