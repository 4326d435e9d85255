/** Whether what this process makes can be another's. */
export const canGiveAway = (): boolean => process.platform === 'linux' && process.getuid?.() === 0
