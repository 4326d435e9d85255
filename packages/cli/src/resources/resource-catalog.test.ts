import type { DiscoveredResource } from '@coracle/client'
import { describe, expect, it } from 'vitest'
import { ResourceCatalog } from './resource-catalog.ts'

const resource = (
  group: string,
  version: string,
  kind: string,
  more: Partial<DiscoveredResource> = {},
): DiscoveredResource => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ['get', 'list'],
  subresources: [],
  isPreferredVersion: true,
  ...more,
})

const pods = resource('', 'v1', 'Pod', { shortNames: ['po'], categories: ['all'] })
const events = resource('', 'v1', 'Event', { shortNames: ['ev'] })
const newEvents = resource('events.k8s.io', 'v1', 'Event', { shortNames: ['ev'] })
const deployments = resource('apps', 'v1', 'Deployment', { shortNames: ['deploy'], categories: ['all'] })
const oldDeployments = resource('apps', 'v1beta1', 'Deployment', { shortNames: ['deploy'], isPreferredVersion: false })
const po = resource('music.test', 'v1', 'Po', { plural: 'po' })
const song = resource('music', 'v1', 'Song')
const otherSong = resource('music.test', 'v1', 'Song')
const catalog = new ResourceCatalog([oldDeployments, pods, events, deployments, newEvents, po, otherSong, song])

describe('ResourceCatalog', () => {
  it.each([
    ['pods', pods],
    ['pod', pods],
    ['Pod', pods],
    ['ev', events],
    ['events.events.k8s.io', newEvents],
    ['deploy', deployments],
    ['deployments.apps', deployments],
    ['deployments.v1beta1.apps', oldDeployments],
    ['pods.v1', pods],
    ['deploy.ap', deployments],
    ['events.ev', newEvents],
    ['song.music', song],
  ])('finds %s', (text, expected) => {
    expect(catalog.find(text)).toBe(expected)
  })

  it('takes a whole name before a short one', () => {
    expect(catalog.find('po')).toBe(po)
  })

  it.each([
    ['ev', ['short name "ev" could also match lower priority resource events.events.k8s.io']],
    ['events', []],
    ['ev.events.k8s.io', []],
    ['deploy', []],
    ['po', []],
  ])('warns of others that are called %s for short', (text, warnings) => {
    const told: string[] = []
    new ResourceCatalog(catalog.all(), (warning) => told.push(warning)).find(text)
    expect(told).toEqual(warnings)
  })

  it('finds all of a category', () => {
    expect(catalog.findAll('all')).toEqual([pods, deployments])
  })

  it('suggests what was meant', () => {
    expect(() => catalog.find('deploymnts')).toThrow(
      'the server doesn\'t have a resource type "deploymnts"; did you mean "deployments"?',
    )
    expect(() => catalog.find('quux')).toThrow(/"quux"$/)
  })

  it('finds nothing under no name, whatever has none for one of its objects', () => {
    const nodeMetrics = { ...pods, group: 'metrics.k8s.io', plural: 'nodes', kind: 'NodeMetrics', singular: '' }
    const withMetrics = new ResourceCatalog([pods, nodeMetrics])
    expect(() => withMetrics.find('')).toThrow('the server doesn\'t have a resource type ""')
    expect(() => withMetrics.findAll('')).toThrow('the server doesn\'t have a resource type ""')
  })

  it('finds the resource of a kind in exactly that version', () => {
    expect(catalog.ofKind('apps/v1beta1', 'Deployment')).toBe(oldDeployments)
    expect(catalog.ofKind('apps/v2', 'Deployment')).toBeUndefined()
  })
})
