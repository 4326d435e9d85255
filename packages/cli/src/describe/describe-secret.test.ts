import type { Secret } from '@coracle/api'
import { expect, it } from 'vitest'
import { describeSecret } from './describe-secret.ts'

const data = { token: Buffer.from('a.b.c').toString('base64'), namespace: 'ZGVmYXVsdA==' }
const described = (type: string) =>
  describeSecret({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default' },
    type,
    data,
  } as Secret)

it('shows the token of an account, and of all other values their sizes', () => {
  expect(described('kubernetes.io/service-account-token')).toMatch(/namespace: +7 bytes\ntoken: +a\.b\.c\n/)
  expect(described('Opaque')).toMatch(/token: +5 bytes\n/)
})
