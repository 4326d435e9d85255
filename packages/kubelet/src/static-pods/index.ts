/** Pods that a node is given in files. */
export { type FollowedManifests, followManifests } from './follow-manifests.ts'
export { StaticPods } from './static-pods.ts'
