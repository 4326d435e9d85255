/**
 * Loads what controllers load when they first need it: where runs have to be alike, that is done before the first. What the bundle of
 * the program starts with does not have it.
 */
export async function loadWhatControllersNeedLater(): Promise<void> {
  await Promise.all([
    import('./attach-detach/observe-node.ts'),
    import('./attach-detach/plan.ts'),
    import('./cron-job/status-after-failure.ts'),
    import('./device-taint-eviction/plan.ts'),
    import('./endpoint-slice-mirroring/plan.ts'),
    import('./horizontal-pod-autoscaler/metrics-reader.ts'),
    import('./horizontal-pod-autoscaler/sync.ts'),
    import('./job/plan.ts'),
    import('./legacy-token-cleaner/plan.ts'),
    import('./local-path-provisioner/plan.ts'),
    import('./namespace/empty-namespace.ts'),
    import('./persistent-volume-binder/plan.ts'),
    import('./resource-claim/plan-pod-claims.ts'),
    import('./resource-claim/plan-release.ts'),
    import('./service-lb/assign.ts'),
    import('./service-lb/plan.ts'),
    import('./stateful-set/plan.ts'),
  ])
}
