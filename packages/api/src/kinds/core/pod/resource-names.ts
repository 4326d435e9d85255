/** What a pod as a whole can ask for; the last one stands for all sizes of huge pages. */
export const podLevelResources: readonly string[] = ['cpu', 'hugepages-', 'memory']

/** Memory in pages of one size: `hugepages-2Mi`. */
export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

/** Whether a pod as a whole can ask for it, and not only its containers: https://kep.k8s.io/2837. */
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)
