/** `1 pod`, `2 pods` */
export const podsText = (count: number): string => `${count} pod${count === 1 ? '' : 's'}`
