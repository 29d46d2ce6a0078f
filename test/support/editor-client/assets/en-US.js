export const language = 'en';
