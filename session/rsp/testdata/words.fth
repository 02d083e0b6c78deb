: square dup * ;
: cube dup square * ;
: both cube 1 + ;
