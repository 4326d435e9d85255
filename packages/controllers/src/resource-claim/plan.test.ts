import { type Pod, type ResourceClaim, type ResourceClaimTemplate, resourceClaimFinalizer } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo } from '../testing/objects.ts'
import { type ClaimLookup, planPodClaims } from './plan-pod-claims.ts'
import { planRelease } from './plan-release.ts'

const spec = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } }
const template: ResourceClaimTemplate = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: { name: 'one-gpu', namespace: 'default' },
  spec: { metadata: { labels: { use: 'gpu' }, annotations: { note: 'x' } }, spec },
}

function web(status: Pod['status'] = {}, more: object = {}): Pod {
  const of = pod('web')
  const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }]
  return { ...of, spec: { ...of.spec, nodeName: undefined, resourceClaims, ...more }, status } as Pod
}

const annotations = { 'resource.kubernetes.io/pod-claim-name': 'gpu' }
const claim = (name: string, metadata: object = {}, status: ResourceClaim['status'] = {}): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name, namespace: 'default', uid: name, ...metadata },
  spec,
  status,
})
const owned = (name = 'web-gpu-abcde') => claim(name, { annotations, ownerReferences: [controllerRef(web())] })

const lookup = (claims: readonly ResourceClaim[] = [], templates = [template]): ClaimLookup => ({
  claim: (name) => claims.find(({ metadata }) => metadata.name === name),
  template: (name) => templates.find(({ metadata }) => metadata.name === name),
  owned: claims.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === 'web')),
})
const noted = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'web-gpu-abcde' }] }

describe('a pod that names a template', () => {
  it('gets a claim of its own', () => {
    expect(planPodClaims(web(), lookup()).actions).toMatchObject([
      {
        type: 'create',
        object: {
          metadata: {
            generateName: 'web-gpu-',
            namespace: 'default',
            labels: { use: 'gpu' },
            annotations: { note: 'x', ...annotations },
            ownerReferences: [{ kind: 'Pod', name: 'web', uid: 'web', controller: true, blockOwnerDeletion: true }],
          },
          spec,
        },
      },
    ])
  })

  it('gets one with a name in which both names are still seen, however long they are', () => {
    const long = web()
    const named = { ...long, metadata: { ...long.metadata, name: 'p'.repeat(60) } }
    const [action] = planPodClaims(named, lookup()).actions
    const prefix = `${'p'.repeat(Math.floor((60 * 57) / 65))}-gp`
    expect(action).toMatchObject({ object: { metadata: { generateName: prefix } } })
  })

  it('is told which it is, once it is there', () => {
    expect(planPodClaims(web(), lookup([owned()])).actions).toMatchObject([
      { type: 'patch', subresource: 'status', patch: { body: { status: noted } } },
    ])
    expect(planPodClaims(web(noted), lookup([owned()])).actions).toEqual([])
  })

  it('gets another where it was deleted, or is another’s', () => {
    expect(planPodClaims(web(noted), lookup()).actions).toMatchObject([{ type: 'create' }])
    expect(planPodClaims(web(noted), lookup([claim('web-gpu-abcde')])).actions).toMatchObject([{ type: 'create' }])
  })

  it('gets a claim for each template it names, and is told which there are', () => {
    const two = web(
      {},
      { resourceClaims: ['gpu', 'nic'].map((name) => ({ name, resourceClaimTemplateName: 'one-gpu' })) },
    )
    const { actions } = planPodClaims(two, lookup([owned()]))
    expect(actions).toMatchObject([
      { type: 'create', object: { metadata: { generateName: 'web-nic-' } }, because: 'pod web has no claim for nic' },
      {
        type: 'patch',
        key: { namespace: 'default', name: 'web' },
        patch: { type: 'strategic', body: { metadata: { uid: 'web' }, status: noted } },
        because: 'claims were made for gpu',
      },
    ])
  })

  it('is told why its claim cannot be made', () => {
    expect(planPodClaims(web(), lookup()).actions).toMatchObject([
      {
        events: {
          failed: {
            reason: 'FailedResourceClaimCreation',
            message: 'PodResourceClaim gpu: create ResourceClaim : {error}',
          },
        },
      },
    ])
  })

  it('is told which claims there are also where a template of others is missing', () => {
    const two = web(
      {},
      {
        resourceClaims: [
          { name: 'gpu', resourceClaimTemplateName: 'one-gpu' },
          { name: 'nic', resourceClaimTemplateName: 'gone' },
        ],
      },
    )
    expect(planPodClaims(two, lookup([owned()])).actions).toMatchObject([{ type: 'patch' }, { type: 'event' }])
  })

  it('has no claim made that it names itself', () => {
    const naming = web({}, { resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] })
    expect(planPodClaims(naming, lookup()).actions).toEqual([])
  })

  it('is told where there is no such template', () => {
    expect(planPodClaims(web(), lookup([], [])).actions).toMatchObject([
      {
        type: 'event',
        eventType: 'Warning',
        reason: 'FailedResourceClaimCreation',
        message:
          'PodResourceClaim gpu: resource claim template "one-gpu": resourceclaimtemplate.resource.k8s.io "one-gpu" not found',
      },
    ])
  })

  it.each([
    ['it is on its way out', { ...web(), metadata: { ...web().metadata, deletionTimestamp: secondsAgo(0) } }],
    ['it is done', web({ phase: 'Succeeded' })],
    ['it has failed', web({ phase: 'Failed' })],
    ['none is needed', web({ resourceClaimStatuses: [{ name: 'gpu' }] })],
  ])('gets none where %s', (_, of) => {
    expect(planPodClaims(of, lookup()).actions).toEqual([])
  })
})

describe('a pod that has got its node by hand', () => {
  const shared = web({}, { nodeName: 'n1', resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] })

  it('has claims reserved for it that have devices', () => {
    const allocated = claim('shared', {}, { allocation: {} })
    expect(planPodClaims(shared, lookup([allocated])).actions).toMatchObject([
      { type: 'update', object: { status: { reservedFor: [{ resource: 'pods', name: 'web', uid: 'web' }] } } },
    ])
  })

  it('has one reserved for it beside others, and is said why', () => {
    const other = { resource: 'pods', name: 'other', uid: 'other' }
    const allocated = claim('shared', {}, { allocation: {}, reservedFor: [other] })
    expect(planPodClaims(shared, lookup([allocated])).actions).toMatchObject([
      {
        subresource: 'status',
        because: 'pod web runs on n1 and uses the claim',
        object: { status: { allocation: {}, reservedFor: [other, { resource: 'pods', name: 'web', uid: 'web' }] } },
      },
    ])
  })

  it.each([
    ['is its own', owned(), 1],
    ['is another’s of the same name', claim('web-gpu-abcde'), 0],
  ])('has a claim from a template reserved only where it %s', (_, { metadata }, count) => {
    const made = claim('web-gpu-abcde', metadata, { allocation: {} })
    const reservations = planPodClaims(web(noted, { nodeName: 'n1' }), lookup([made])).actions.filter(
      ({ type }) => type === 'update',
    )
    expect(reservations).toHaveLength(count)
  })

  it('has none reserved while it has no node', () => {
    const waiting = web({}, { resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] })
    expect(planPodClaims(waiting, lookup([claim('shared', {}, { allocation: {} })])).actions).toEqual([])
  })

  it.each([
    ['is not there', claim('other', {}, { allocation: {} })],
    ['is on its way out', claim('shared', { deletionTimestamp: secondsAgo(0) }, { allocation: {} })],
    [
      'has as many users as there may be',
      claim(
        'shared',
        {},
        {
          allocation: {},
          reservedFor: Array.from({ length: 256 }, (_, i) => ({ resource: 'pods', name: `p${i}`, uid: `u${i}` })),
        },
      ),
    ],
    ['has none', claim('shared')],
    [
      'is its own already',
      claim('shared', {}, { allocation: {}, reservedFor: [{ resource: 'pods', name: 'web', uid: 'web' }] }),
    ],
  ])('has nothing done where the claim %s', (_, of) => {
    expect(planPodClaims(shared, lookup([of])).actions).toEqual([])
  })
})

describe('a claim', () => {
  const allocation = { devices: { results: [] } }
  const user = { resource: 'pods', name: 'web', uid: 'web' }
  const finalizers = [resourceClaimFinalizer]
  const used = (metadata: object = { finalizers }) => claim('c', metadata, { allocation, reservedFor: [user] })
  const known =
    (...all: readonly Pod[]) =>
    (name: string) =>
      all.find(({ metadata }) => metadata.name === name)
  const deleted = (nodeName?: string): Pod => {
    const of = web({}, { nodeName })
    return { ...of, metadata: { ...of.metadata, deletionTimestamp: secondsAgo(0) } }
  }

  it.each([
    ['runs', web()],
    ['is on its way out, and has a node', deleted('n1')],
  ])('stays with a pod that %s', (_, of) => {
    expect(planRelease(used(), known(of))).toMatchObject({ removesFinalizer: false, isDeleted: false })
    expect(planRelease(used(), known(of)).status).toBeUndefined()
  })

  it.each([
    ['is gone', known()],
    ['has been replaced', known({ ...web(), metadata: { ...web().metadata, uid: 'other' } })],
    ['is done', known(web({ phase: 'Failed' }))],
    ['never came to a node', known(deleted())],
  ])('loses a pod that %s, and its devices with the last', (_, look) => {
    const release = planRelease(used(), look)
    expect(release).toMatchObject({ status: {}, removesFinalizer: true, isDeleted: false })
    expect(release.status).toEqual({})
    const other = { resource: 'pods', name: 'other', uid: 'other' }
    const both = claim('c', { finalizers }, { allocation, reservedFor: [user, other] })
    const others = known({ ...pod('other'), metadata: { name: 'other', uid: 'other' } })
    const partly = planRelease(both, (name) => (name === 'other' ? others(name) : look(name)))
    expect(partly).toMatchObject({ removesFinalizer: false, isDeleted: false })
    expect(partly.status).toEqual({ allocation, reservedFor: [other] })
  })

  it.each<[string, Parameters<typeof claim>[2], string]>([
    ['one', { allocation, reservedFor: [user] }, 'web does not use it any more'],
    [
      'several',
      { allocation, reservedFor: [user, { resource: 'pods', name: 'b', uid: 'b' }] },
      'web, b do not use it any more',
    ],
  ])('says who does not use it any more: %s', (_, status, because) => {
    expect(planRelease(claim('c', { finalizers }, status), known()).because).toBe(because)
  })

  it('stays with who is no pod, of whom nothing is known', () => {
    const users = [
      { resource: 'podgroups', apiGroup: 'scheduling.k8s.io', name: 'web', uid: 'web' },
      { resource: 'pods', apiGroup: 'example.com', name: 'web', uid: 'web' },
      { resource: 'others', name: 'web', uid: 'web' },
    ]
    for (const each of users) {
      const release = planRelease(claim('c', { finalizers }, { allocation, reservedFor: [each] }), known())
      expect(release).toEqual({ removesFinalizer: false, isDeleted: false, because: '' })
    }
  })

  it('keeps what drivers say of it when its last user goes', () => {
    const devices = [{ driver: 'd', pool: 'p', device: 'a' }]
    const used = claim('c', { finalizers }, { allocation, devices, reservedFor: [user] })
    expect(planRelease(used, known()).status).toEqual({ devices })
  })

  it('goes with the last of its users where the pod that it was made for is done', () => {
    const made = { ...owned().metadata, finalizers }
    const release = planRelease(claim('c', made, { allocation, reservedFor: [user] }), known(web({ phase: 'Failed' })))
    expect(release).toMatchObject({ removesFinalizer: true, isDeleted: true })
    const other = { resource: 'pods', name: 'other', uid: 'other' }
    const shared = claim('c', made, { allocation, reservedFor: [user, other] })
    const others = { ...pod('other'), metadata: { name: 'other', uid: 'other' } }
    expect(planRelease(shared, known(web({ phase: 'Failed' }), others))).toMatchObject({ isDeleted: false })
  })

  it.each([
    ['is held by nobody', { deletionTimestamp: secondsAgo(0) }],
    ['is held by somebody else', { deletionTimestamp: secondsAgo(0), finalizers: ['example.com/mine'] }],
  ])('that is on its way out and %s is left alone', (_, metadata) => {
    const made = { ...owned().metadata, ...metadata }
    expect(planRelease(claim('c', made), known(web({ phase: 'Failed' })))).toEqual({
      removesFinalizer: false,
      isDeleted: false,
      because: '',
    })
  })

  it('is let go without devices when it is deleted, and is said why', () => {
    const going = claim('c', { finalizers, deletionTimestamp: secondsAgo(0) })
    const because = 'it is deleted, and nobody uses it'
    expect(planRelease(going, known())).toEqual({ removesFinalizer: true, isDeleted: false, because })
  })

  it('that was made for a pod goes when another has its name', () => {
    const replaced = { ...web(), metadata: { ...web().metadata, uid: 'other' } }
    expect(planRelease(owned(), known(replaced))).toEqual({
      removesFinalizer: false,
      isDeleted: true,
      because: 'the pod that it was made for is done',
    })
  })

  it.each([
    ['it does not control', { controller: false }],
    ['is of another kind', { kind: 'Job' }],
    ['is of another version', { apiVersion: 'example.com/v1' }],
  ])('stays where its owner %s', (_, more) => {
    const ownerReferences = [{ ...controllerRef(web()), ...more }]
    expect(planRelease(claim('c', { ownerReferences }), known(web({ phase: 'Failed' }))).isDeleted).toBe(false)
  })

  it('keeps devices that somebody else gave it', () => {
    expect(planRelease(used({}), known()).status).toEqual({ allocation })
  })

  it('goes without its devices when it is deleted and nobody uses it', () => {
    const going = claim('c', { finalizers, deletionTimestamp: secondsAgo(0) }, { allocation })
    expect(planRelease(going, known())).toMatchObject({ status: {}, removesFinalizer: true, isDeleted: false })
    // The scheduler holds a claim before it gives it devices.
    expect(planRelease(claim('c', { finalizers }), known())).toMatchObject({ removesFinalizer: false })
  })

  it('that was made for a pod goes when the pod is done', () => {
    expect(planRelease(owned(), known(web({ phase: 'Succeeded' })))).toMatchObject({ isDeleted: true })
    expect(planRelease(owned(), known(web()))).toMatchObject({ isDeleted: false })
    // The garbage collector sees to those whose pod is gone.
    expect(planRelease(owned(), known())).toMatchObject({ isDeleted: false })
  })
})
