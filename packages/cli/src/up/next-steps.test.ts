import { describe, expect, it } from 'vitest'
import { nextSteps } from './next-steps.ts'

const options = { dataDir: '/w/.coracle', kubeconfig: '/w/.coracle/kubeconfig', memory: false, viaNpm: true } as const

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
    expect(nextSteps({ ...options, dataDir, kubeconfig: `${dataDir}/kubeconfig`, resource: 'nodes' })).toContain(
      "export KUBECONFIG='/my data/it'\\''s/kubeconfig'\n",
    )
  })

  it('has nothing to remove where nothing is kept', () => {
    const text = nextSteps({ ...options, memory: true, viaNpm: false, resource: 'nodes' })
    expect(text).toContain('\n    coracle get nodes ')
    expect(text).toContain('nothing is kept')
    expect(text).not.toContain('rm -r')
  })
})
