import { seededRandom } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { PodSandboxConfig, SandboxIsolation } from '../runtime.ts'
import { idsOfPods, type RunProgram, UserNamespaces } from './user-namespaces.ts'

const size = 65_536

/** A host with a user `kubelet`, whose subordinate ids are these. */
const hostWith =
  (users: string, groups = users): RunProgram =>
  async (program, [first]) => {
    if (program === 'id') return '990\n'
    return first === '-g' ? groups : users
  }
const withoutUser: RunProgram = async (program) => {
  throw new Error(`${program} failed`)
}
const withoutGetsubids: RunProgram = async (program) => {
  if (program === 'id') return '990\n'
  throw Object.assign(new Error('spawn getsubids ENOENT'), { code: 'ENOENT' })
}

describe('the ids that a host has for pods', () => {
  const above = { hostId: size, length: 2 ** 32 - size }

  it.each([
    ['it has no user for them', withoutUser],
    ['it cannot be asked', withoutGetsubids],
  ])('are all above those of its own users where %s', async (_, run) => {
    expect(await idsOfPods(run)).toEqual(above)
  })

  it('are those that its user has', async () => {
    expect(await idsOfPods(hostWith('0: kubelet 131072 7208960\n'))).toEqual({ hostId: 131_072, length: 110 * size })
  })

  it.each([
    ['0: kubelet 65537 7208960', 'kubelet user assigned ID 65537 is not a multiple of 65536'],
    ['0: kubelet 0 7208960', 'kubelet user assigned ID 0 must be greater or equal to 65536'],
    ['0: kubelet 65536 7208961', 'kubelet user assigned IDs length 7208961 is not a multiple of 65536'],
    ['0: kubelet 65536 65536', 'kubelet user assigned IDs are not enough to support 110 pods'],
    ['0: kubelet 65536 65536\n1: kubelet 7208960 65536', 'kubelet mappings: not one range of ids'],
  ])('are not %s', async (said, message) => {
    await expect(idsOfPods(hostWith(said))).rejects.toThrow(message)
  })

  it('are those of its groups, too', async () => {
    await expect(idsOfPods(hostWith('0: kubelet 65536 7208960', '0: kubelet 131072 7208960'))).rejects.toThrow(
      'kubelet mappings: mismatched subuids and subgids for user "kubelet"',
    )
  })

  it('are not known where its user has none', async () => {
    const run: RunProgram = async (program) => {
      if (program === 'id') return '990\n'
      throw new Error('Error fetching ranges')
    }
    await expect(idsOfPods(run)).rejects.toThrow(
      'kubelet mappings: error retrieving additional uids for user "kubelet": Error fetching ranges',
    )
  })
})

describe('the ids of a pod', () => {
  const podWith = (podUid: string, hostId: number) => {
    const isolation = { users: { hostId, length: size } } as Partial<SandboxIsolation> as SandboxIsolation
    const names = { podName: podUid, podNamespace: 'default', attempt: 0, hostname: podUid, hostNetwork: false }
    return { ...names, podUid, isolation } satisfies PodSandboxConfig
  }
  const known = [podWith('before', 3 * size)]
  const namespaces = (run: RunProgram = hostWith('0: kubelet 65536 7208960')) =>
    new UserNamespaces(seededRandom(1), async () => known, run)

  it('are its own, and none of the node’s, until they are given back', async () => {
    const users = namespaces()
    const pods = Array.from({ length: 109 }, (_, index) => `pod-${index}`)
    const given = await Promise.all(pods.map((pod) => users.ofPod(pod)))
    const firstIds = given.map(({ hostId }) => hostId).concat(3 * size)
    expect(new Set(firstIds)).toEqual(new Set(Array.from({ length: 110 }, (_, index) => (index + 1) * size)))
    expect(given.every(({ length }) => length === size)).toBe(true)
    expect(await users.ofPod('pod-7')).toEqual(given[7])
    await expect(users.ofPod('late')).rejects.toThrow('could not find an empty slot to allocate a user namespace')
    await users.release('pod-7')
    expect(await users.ofPod('late')).toEqual(given[7])
  })

  it('are those that it had in an earlier life of the node agent', async () => {
    expect(await namespaces().ofPod('before')).toEqual({ hostId: 3 * size, length: size })
  })

  it('are asked for again where the host could not tell', async () => {
    let said = 'nothing'
    const users = namespaces((program, args) => hostWith(said)(program, args))
    await expect(users.ofPod('web')).rejects.toThrow('not one range of ids: "nothing"')
    said = '0: kubelet 65536 7208960'
    expect(await users.ofPod('web')).toMatchObject({ length: size })
  })
})
