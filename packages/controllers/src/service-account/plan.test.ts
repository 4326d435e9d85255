import { type Namespace, type ServiceAccount, serviceAccounts } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { planServiceAccount } from './plan.ts'

const namespace = (metadata: Partial<Namespace['metadata']> = {}, phase?: string) =>
  ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', ...metadata },
    status: phase === undefined ? undefined : { phase },
  }) as Namespace

const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { namespace: 'team', name: 'default' },
}

describe('planServiceAccount', () => {
  it.each([
    ['that is new', undefined],
    ['that is active', 'Active'],
  ])('gives a namespace %s its default service account', (_what, phase) => {
    expect(planServiceAccount(namespace({}, phase), undefined)).toEqual({
      actions: [
        {
          type: 'create',
          resource: serviceAccounts,
          object: account,
          because: 'the namespace has no default service account',
        },
      ],
    })
  })

  it.each<[string, Namespace, ServiceAccount | undefined]>([
    ['has one', namespace({}, 'Active'), account],
    ['is being deleted', namespace({ deletionTimestamp: '2026-01-01T00:00:00Z' }, 'Active'), undefined],
    ['says that it is terminating', namespace({}, 'Terminating'), undefined],
  ])('gives none to a namespace that %s', (_what, going, existing) => {
    expect(planServiceAccount(going, existing)).toEqual({ actions: [] })
  })
})
