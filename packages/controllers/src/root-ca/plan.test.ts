import { type ConfigMap, configMaps, type Namespace } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { planRootCa } from './plan.ts'

const namespace = (metadata: Partial<Namespace['metadata']> = {}, phase = 'Active') =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team', ...metadata }, status: { phase } }) as Namespace

const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

const published: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'team',
    name: 'kube-root-ca.crt',
    annotations: { 'kubernetes.io/description': description },
  },
  data: { 'ca.crt': 'PEM' },
}

describe('planRootCa', () => {
  it('publishes the certificate where it is not', () => {
    expect(planRootCa(namespace(), undefined, 'PEM')).toEqual({
      actions: [
        {
          type: 'create',
          resource: configMaps,
          object: published,
          because: 'the namespace has no root certificate',
        },
      ],
    })
  })

  it('does nothing where it is', () => {
    const withMore = { ...published, metadata: { ...published.metadata, labels: { own: 'label' } } }
    expect(planRootCa(namespace(), withMore, 'PEM')).toEqual({ actions: [] })
  })

  const annotations = { 'kubernetes.io/description': 'of ours', note: 'kept' }
  it.each<[string, ConfigMap]>([
    ['another certificate', { ...published, data: { 'ca.crt': 'other' } }],
    ['more than the certificate', { ...published, data: { 'ca.crt': 'PEM', more: 'x' } }],
    [
      'an empty description',
      {
        ...published,
        metadata: { ...published.metadata, annotations: { ...annotations, 'kubernetes.io/description': '' } },
      },
    ],
    ['no description', { ...published, metadata: { namespace: 'team', name: 'kube-root-ca.crt' } }],
  ])('puts it back where there is %s', (_what, changed) => {
    const { metadata } = changed
    expect(planRootCa(namespace(), changed, 'PEM')).toEqual({
      actions: [
        {
          type: 'update',
          resource: configMaps,
          object: {
            ...published,
            metadata: {
              ...metadata,
              annotations: { ...metadata.annotations, 'kubernetes.io/description': description },
            },
          },
          because: 'the root certificate is not the published one',
        },
      ],
    })
  })

  it.each([
    ['is being deleted', namespace({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['says that it is terminating', namespace({}, 'Terminating')],
  ])('leaves a namespace alone that %s', (_what, going) => {
    expect(planRootCa(going, undefined, 'PEM')).toEqual({ actions: [] })
  })

  it('takes a namespace without a status for one that stays', () => {
    const { status: _status, ...fresh } = namespace()
    expect(planRootCa(fresh as Namespace, undefined, 'PEM').actions).toHaveLength(1)
  })
})
