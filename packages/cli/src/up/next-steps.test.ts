import { describe, expect, it } from 'vitest'
import { nextSteps } from './next-steps.ts'

const place = { name: 'coracle', directory: '/w/.coracle', shown: '.coracle', home: '/w/.coracle' }
const options = {
  place,
  kubeconfig: '/w/.coracle/kubeconfig',
  memory: false,
  viaNpm: true,
  isDetached: false,
} as const

describe('nextSteps', () => {
  it('names the variable, a command to try, and the way back', () => {
    expect(nextSteps({ ...options, resource: 'pods' })).toBe(`
  In another terminal:
    export KUBECONFIG=/w/.coracle/kubeconfig
    npx coracle get pods -o wide      (or kubectl get pods -o wide)
  To start afresh: Ctrl-C, then rm -r /w/.coracle

`)
  })

  it('gives paths that a shell takes whole', () => {
    const dataDir = "/my data/it's"
    const place = { name: 'coracle', directory: dataDir, shown: dataDir, home: undefined }
    expect(nextSteps({ ...options, place, kubeconfig: `${dataDir}/kubeconfig`, resource: 'nodes' })).toContain(
      "export KUBECONFIG='/my data/it'\\''s/kubeconfig'\n",
    )
  })

  it('has nothing to remove where nothing is kept', () => {
    const text = nextSteps({ ...options, memory: true, viaNpm: false, resource: 'nodes' })
    expect(text).toContain('\n    coracle get nodes ')
    expect(text).toContain('nothing is kept')
    expect(text).not.toContain('rm -r')
  })

  it('says of a server that goes on by itself how to look after it, by its name', () => {
    const directory = '/w/.coracle/clusters/staging'
    const staging = { name: 'staging', directory, shown: directory, home: '/w/.coracle' }
    const kubeconfig = `${directory}/kubeconfig`
    expect(
      nextSteps({ ...options, place: staging, kubeconfig, viaNpm: false, resource: 'nodes', isDetached: true }),
    ).toBe(`
  Next:
    export KUBECONFIG=/w/.coracle/clusters/staging/kubeconfig
    coracle get nodes -o wide      (or kubectl get nodes -o wide)
    coracle use staging      to be meant here without KUBECONFIG
    coracle server-logs --name staging -f      what happens in it
    coracle status --name staging, coracle down --name staging
  To start afresh: coracle down --name staging, then rm -r /w/.coracle/clusters/staging

`)
  })
})
