"""A course from the chapters: what students get, what they hand in, and marks with feedback.

`tasks` reads the exercises of a chapter, `edition` writes the students' folder; `grading` marks
answer sheets, each answer in a `sandbox`, whose other side is `inside`. Begin with
`edition.write_course` and `grading.grade`.
"""
