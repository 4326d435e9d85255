/** The version of Kubernetes whose API this is. The build part says whose work it is; clients ignore it when they compare. */
export const kubernetesVersion = 'v1.36.0+coracle'
