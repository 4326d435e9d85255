/** A deliberate bug: a text of a source file that is read as another. The file itself stays as it is. */
export interface Bug {
  readonly name: string
  /** Under `packages/`. */
  readonly file: string
  /** Occurs once in the file. */
  readonly find: string
  readonly replace: string
}

/** Mistakes as they are made: each has to be noticed. */
export const bugs: readonly Bug[] = [
  {
    name: 'surge off by one',
    file: 'controllers/src/deployment/limits.ts',
    find: 'desiredOf(deployment) + maxSurge(deployment)',
    replace: 'desiredOf(deployment) + maxSurge(deployment) + 1',
  },
  {
    name: 'one pod fewer kept available than promised',
    file: 'controllers/src/deployment/limits.ts',
    find: 'desiredOf(deployment) - maxUnavailable(deployment)',
    replace: 'desiredOf(deployment) - maxUnavailable(deployment) - 1',
  },
  {
    name: 'one pod too many where some are missing',
    file: 'controllers/src/replicas/plan.ts',
    find: 'const missing = desired.replicas - replicas',
    replace: 'const missing = desired.replicas - replicas + (0 < replicas && replicas < desired.replicas ? 1 : 0)',
  },
  {
    name: 'forgotten finalizer',
    file: 'controllers/src/job/plan.ts',
    find: 'status: final.status,\n    releases: releasesOf(counts.released)',
    replace: 'status: final.status,\n    releases: []',
  },
  {
    name: 'stale read: a reconcile sees caches older than its own writes',
    file: 'controller-runtime/src/own-writes.ts',
    find: '    if (!this.#keys.has(key)) return false',
    replace: '    if (this.#keys !== undefined) return false',
  },
  {
    name: 'missed requeue',
    file: 'controllers/src/replicas/plan.ts',
    find: 'const requeue = counts.nextAvailableAt === undefined ?',
    replace: 'const requeue = counts !== undefined ?',
  },
  {
    name: 'lost adoption',
    file: 'controllers/src/pods/claims.ts',
    find: '...orphans.map((pod) => adoption',
    replace: '...orphans.slice(0, 0).map((pod) => adoption',
  },
  {
    name: 'lost release',
    file: 'controllers/src/pods/claims.ts',
    find: '...mismatched.map(',
    replace: '...mismatched.slice(0, 0).map(',
  },
  {
    name: 'eviction not charged to its budget',
    file: 'apiserver/src/subresources/eviction/plan.ts',
    find: 'disruptionsAllowed: allowed - 1',
    replace: 'disruptionsAllowed: allowed',
  },
  {
    name: 'eviction charged twice',
    file: 'apiserver/src/subresources/eviction/plan.ts',
    find: 'disruptionsAllowed: allowed - 1',
    replace: 'disruptionsAllowed: allowed - 2',
  },
  {
    name: 'eviction granted by an exhausted budget',
    file: 'apiserver/src/subresources/eviction/plan.ts',
    find: 'if (allowed === 0) throw',
    replace: 'if (allowed < 0) throw',
  },
  {
    name: 'quota off by one',
    file: 'apiserver/src/admission/resource-quota.ts',
    find: "compareQuantity(total[each] ?? '0', hard",
    replace: "compareQuantity(used[each] ?? '0', hard",
  },
  {
    name: 'a complete index of a Job is run again',
    file: 'controllers/src/job/plan.ts',
    find: 'pendingIndexes(job, taken, progress.succeededIndexes,',
    replace: 'pendingIndexes(job, taken, [],',
  },
  {
    name: 'a Job that is over is reconciled as if it ran',
    file: 'controllers/src/job/plan.ts',
    find: 'isJobFinished(job) || (isLeaving(job) && !isStarted)',
    replace: 'isLeaving(job) && !isStarted',
  },
  {
    name: 'two Jobs of a CronJob that forbids it',
    file: 'controllers/src/cron-job/plan.ts',
    find: "concurrencyPolicy === 'Forbid' && active.length > 0",
    replace: "concurrencyPolicy === 'Forbid' && active.length > 1",
  },
  {
    name: 'a Job starts when the others are there, and not when they are complete',
    file: 'controllers/src/job/dependencies.ts',
    find: "if (!hasJobCondition(other?.status, 'Complete'))",
    replace: 'if (other === undefined)',
  },
  {
    name: 'collected although another owner is there',
    file: 'controllers/src/garbage-collector/plan.ts',
    find: 'if (gone.length < owners.length) return',
    replace: 'if (gone.length === 0) return',
  },
  {
    name: 'an owner in the foreground does not wait',
    file: 'controllers/src/garbage-collector/plan.ts',
    find: '  return isBlocked\n',
    replace: '  return isBlocked && object === undefined\n',
  },
  {
    name: 'absent owners are overlooked',
    file: 'controllers/src/garbage-collector/plan.ts',
    find: "  return { type: 'delete', propagationPolicy: ownPolicy(object), unblocksOwners: false",
    replace: "  return { type: 'keep', propagationPolicy: ownPolicy(object), unblocksOwners: false",
  },
  {
    name: 'endpoints are made, and not kept up to date',
    file: 'controllers/src/endpoint-slice/plan.ts',
    find: '...changes.changed.map(',
    replace: '...changes.changed.slice(0, 0).map(',
  },
  {
    name: 'a cache misses deletions',
    file: 'client/src/reflector.ts',
    find: 'this.#target.remove(event.object)',
    replace: 'this.#target.remove',
  },
  {
    name: 'watch gap: a watch that is begun again misses a change',
    file: 'apiserver/src/watch-cache/store-feed.ts',
    find: 'else if (event.revision > (attached.filledAt ?? 0)) {',
    replace: 'else if (event.revision % 97 !== 0 && event.revision > (attached.filledAt ?? 0)) {',
  },
  {
    name: 'a status says that it observed what it did not',
    file: 'controllers/src/stateful-set/status.ts',
    find: 'observedGeneration: set.metadata.generation',
    replace: 'observedGeneration: 1 + (set.metadata.generation ?? 0)',
  },
  {
    name: 'a write that does not say why',
    file: 'scheduler/src/scheduling-cause.ts',
    find: 'because: shortened(because), ',
    replace: '',
  },
  {
    name: 'an autoscaler shrinks below what it is to keep',
    file: 'controllers/src/horizontal-pod-autoscaler/limits.ts',
    find: '  if (wanted < min) return { replicas: min, ...tooFew }\n  if (wanted > Math.min(max, fastest))',
    replace: '  if (wanted < min) return { replicas: min - 1, ...tooFew }\n  if (wanted > Math.min(max, fastest))',
  },
  {
    name: 'a claim goes although a pod uses it',
    file: 'controllers/src/persistent-volume-claim-protection/plan.ts',
    find: "if ((pod.spec.nodeName ?? '') === '') return false",
    replace: "if (pod.spec.nodeName !== '') return false",
  },
  {
    name: 'devices are not kept for claims that are about to get them',
    file: 'scheduler/src/devices/device-cache.ts',
    find: '    this.#pending.set(uid, { allocation, version: undefined })\n    this.use.set(uid, allocation)',
    replace: '    this.#pending.set(uid, { allocation, version: undefined })',
  },
  {
    name: 'a claim is taken back from a pod that still runs',
    file: 'controllers/src/resource-claim/plan-release.ts',
    find: '&& !isDone(found)',
    replace: '&& isDone(found)',
  },
  {
    name: 'a pod below the partition is replaced',
    file: 'controllers/src/stateful-set/versions.ts',
    find: 'firstOrdinal(set) + (rollingUpdate?.partition ?? 0)',
    replace: 'firstOrdinal(set)',
  },
  {
    name: 'a failure that is to be ignored is counted',
    file: 'controllers/src/job/accounting.ts',
    find: "judgeFailure(job, pod)?.action === 'Ignore' ? 'uncounted'",
    replace: "judgeFailure(job, pod)?.action === 'Count' ? 'uncounted'",
  },
  {
    name: 'an index that has failed is run again',
    file: 'controllers/src/job/plan.ts',
    find: '&& !hasIndex(failedIndexes, index)) pending',
    replace: '&& (!hasIndex(failedIndexes, index) || index > 0)) pending',
  },
  {
    name: 'a Job fails one failure early',
    file: 'controllers/src/job/ending.ts',
    find: 'progress.failed > backoffLimit',
    replace: 'progress.failed >= backoffLimit',
  },
  {
    name: 'a rule for success is met one index early',
    file: 'controllers/src/job/success-policy.ts',
    find: 'if (reached >= needed)',
    replace: 'if (reached >= needed - 1)',
  },
  {
    name: 'a Job does not take the place of the one before',
    file: 'controllers/src/cron-job/plan.ts',
    find: "if (concurrencyPolicy !== 'Replace') return",
    replace: "if (concurrencyPolicy !== 'Never') return",
  },
  {
    name: 'a CronJob keeps one Job too many',
    file: 'controllers/src/cron-job/plan.ts',
    find: 'if (kept === undefined || jobs.length <= kept) return []',
    replace: 'if (kept === undefined || jobs.length <= kept + 1) return []',
  },
  {
    name: 'an owner that is gone stays named',
    file: 'controllers/src/garbage-collector/plan.ts',
    find: "return { type: 'dropOwners', uids",
    replace: "return { type: 'keep', uids",
  },
  {
    name: 'what others own goes with who applied it, too',
    file: 'api/src/apply/ownership.ts',
    find: 'pruning(input, merged, claimed, last)',
    replace: 'pruning(input, merged, claimed.filter((each) => isSameManager(each, manager)), last)',
  },
  {
    name: 'who applies takes what others own without a word',
    file: 'api/src/apply/ownership.ts',
    find: 'if (!isEmptySet(taken)) conflicts.push(',
    replace: 'if (except === undefined) conflicts.push(',
  },
  {
    name: 'load balancers lead to nodes that they are to leave out',
    file: 'controllers/src/service-lb/node-addresses.ts',
    find: 'isBeingDeleted(node) || Object.hasOwn(metadata.labels ?? {}, excludedLabel)',
    replace: 'isBeingDeleted(node) || Object.hasOwn(metadata, excludedLabel)',
  },
  {
    name: 'the younger of two load balancers has the port',
    file: 'controllers/src/service-lb/assign.ts',
    find: 'byAge(other, service) < 0',
    replace: 'byAge(other, service) > 0',
  },
  {
    name: 'what shows a pod of a file is not made again',
    file: 'kubelet/src/static-pods/static-pods.ts',
    find: 'this.#mirrors.delete(key)\n    this.#show(key)\n    this.#reconcile(key)',
    replace: 'this.#mirrors.delete(key)\n    this.#show(key)',
  },
  {
    name: 'a pod stays when its file goes',
    file: 'kubelet/src/static-pods/static-pods.ts',
    find: 'if (!isSame) this.#end(',
    replace: 'if (!isSame && pod !== undefined) this.#end(',
  },
  {
    name: 'a proxy leads nowhere where no pod is in its zone',
    file: 'proxy/src/frontends.ts',
    find: 'return inZones.length > 0 ? inZones : found',
    replace: 'return inZones',
  },
]
