import { type Filter, fits } from './plugin.ts'

const otherNode = ["node(s) didn't match the requested node name"] as const

/** A pod that names its node goes nowhere else. */
export const nodeName: Filter = {
  name: 'NodeName',
  prepare(pod) {
    const wanted = pod.spec?.nodeName
    return wanted ? ({ node }) => (node.metadata.name === wanted ? fits : otherNode) : undefined
  },
}
